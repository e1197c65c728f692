# The study of docs/human-evaluation.md: two systems, six clusters, three responses to each.
hiersum humaneval make --gold examples/scoring/clusters.jsonl \
  --system first=examples/scoring/first.jsonl --system second=examples/scoring/second.jsonl \
  --questions examples/judging/questions.jsonl --items 6 --responses 3 --out study > /dev/null
