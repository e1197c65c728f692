# From articles to a trained network, in small: every step of training with the example data.
set -e
hiersum build articles examples/articles.jsonl --search 3 --out clusters
hiersum tokenizer train clusters --size 250 --out model
hiersum prepare clusters --model model --out prepared --config examples/small.toml
hiersum train examples/small.toml --out run
hiersum plot run --out curves.svg
hiersum summarize examples/harbour-bridge --model run/model --max-words 30
