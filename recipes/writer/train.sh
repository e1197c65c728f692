#!/bin/sh
# Make the bundled model from its parts; recipes/writer/README.md explains the steps.
#   sh recipes/writer/train.sh WHEEL WIKILEAD WRITTEN TARGETS WORK
#   WHEEL     traceforge_title_model-0.2.0-py3-none-any.whl (see flan_t5_from_wheel.py), or a T5 folder
#   WIKILEAD  the folder with train-*.parquet, valid.parquet and test.parquet
#   WRITTEN   the folder with train.parquet and valid.parquet of the corpus `written`
#   TARGETS   conservative summaries for clusters of WRITTEN (targets.jsonl.gz, unpacked by recipes/pointers.py)
#   WORK      where everything goes; run the same command again to resume
# Takes many hours on two cores with bfloat16 (elsewhere, set training.precision=fp32). Needs hiersum[train,build] and, for
# the wheel, onnx. The bundled model's own stages were interrupted and adjusted on the way (EXPERIMENTS.md).
set -eu
absolute() { (cd "$(dirname "$1")" && echo "$PWD/$(basename "$1")"); }
wheel=$(absolute "$1") wikilead=$(absolute "$2") written=$(absolute "$3") targets=$(absolute "$4") work=$5
here=$(cd "$(dirname "$0")" && pwd)
config=$here/../../configs/writer.toml
mkdir -p "$work"
cd "$work"

# 1. A T5 below two silent global layers, with the pieces that English Wikipedia uses.
case $wheel in
*.whl) [ -f flan/config.json ] || python "$here/../flan_t5_from_wheel.py" "$wheel" flan ;;
*) [ -e flan ] || ln -s "$wheel" flan ;;
esac
[ -f start/config.json ] || hiersum convert t5 flan --out start --min-count 10 \
    --prune-to "$wikilead/train-00.parquet" --prune-to "$wikilead/train-01.parquet" --prune-to "$wikilead/train-02.parquet"

# 2. Clusters from Wikipedia, and the ranker.
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
    --config "$here/../../configs/ranker.toml"

# 3. Learn to read paragraphs and to write, from the supported part of Wikipedia leads. No plans yet.
prepare() { # NAME SETTING...
    name=$1
    shift
    for split in valid train; do
        hiersum prepare "clusters/supported-$split" --model start --config "$config" --out "prepared-$name/$split" \
            --set data.augmented=false --set data.max_target_tokens=160 --set data.min_supported_words=30 "$@"
    done
}
train() { # NAME DATA START STEPS RATE SETTING...
    name=$1 data=$2 start=$3 steps=$4 rate=$5
    shift 5
    hiersum train "$config" --out "run-$name" --set training.data="prepared-$data/train" \
        --set training.valid_data="prepared-$data/valid" --set training.start="$start" --set training.steps="$steps" \
        --set training.learning_rate="$rate" "$@"
}
prepare oracle --set ranker.kind=oracle --set data.max_paragraph_tokens=64
prepare short --set data.max_paragraph_tokens=64 --set data.max_input_paragraphs=10
prepare long --set data.max_paragraph_tokens=100
leads="--set training.label_smoothing=0.1 --set training.warmup_steps=40"
train oracle oracle start 575 4e-4 $leads --set training.batch_tokens=6400
train short short run-oracle/model 600 2.5e-4 $leads --set training.batch_tokens=6400
train long long run-short/model 500 2.5e-4 $leads --set training.batch_tokens=8000

# 4. Add a planner, and learn to plan and to write what the sources say, from cited summaries.
[ -f planned/config.json ] || python "$here/add_planner.py" run-long/model planned
python "$here/mix.py" "$written/train.parquet" mixed.jsonl --targets "$targets" --limit 700 --also "$here/../folders"
hiersum prepare mixed.jsonl --model planned --config "$config" --out prepared-written/train
hiersum prepare "$written/valid.parquet" --model planned --config "$config" --set data.augmented=false \
    --out prepared-written/valid
train first written planned 93 4e-4 --set training.schedule=constant
upper="--set training.frozen=['source_words','encoder.layers.0.','encoder.layers.1.'] --set training.warmup_steps=8"
train second written run-first/model 80 4e-4 $upper --set training.schedule=constant
train third written run-second/model 260 4e-4 $upper --set training.seed=2

# 5. Let the planner learn alone from all cited summaries.
python "$here/learn_to_plan.py" run-third/model run-plan "$written/train.parquet" "$here/../folders" \
    --valid "$written/valid.parquet"

# 6. Put the network and the ranker together.
python "$here/../bundle.py" run-plan/model start bundle
