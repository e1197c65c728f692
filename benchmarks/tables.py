"""Write the tables of README.md and docs/ from results and from the code.

A table stands between two comments, `<!-- NAME -->` and `<!-- /NAME -->`. Numbers are never typed: a test
runs this and fails if a page would change.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # also when a test loads this file by its path
import performance
import wikisum

import hiersum.config
import hiersum.reproduction
from hiersum.building.clusters import PAPER, report_rows
from hiersum.evaluation.comparison import Table
from hiersum.jobs.progress import spoken
from hiersum.reproduction.experiment import CorpusSettings, RunSettings, load_experiment
from hiersum.reproduction.paper_tables import (
    ablation_table,
    longer_table,
    main_table,
    reading_table,
    seed_table,
)
from hiersum.reproduction.systems import ROWS, Sizes

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
EXTRAS = {
    "serve": "the server and its page",
    "train": "training, fine-tuning, reproducing the paper, plots",
    "parquet": "data sets in Parquet",
    "hub": "models of the Hugging Face hub, converting a T5",
    "build": "building a WikiSum from Wikipedia and web pages",
    "discourse": "the paper's discourse graph",
    "cluster": "several machines, with Ray",
    "docs": "this site",
    "dev": "all of these, and the tools of developers",
}
SYSTEMS = {
    "lead (paper)": "Lead, as the paper defines it (with the title)",
    "lexrank (paper)": "LexRank over paragraphs, as the paper defines it",
    "lead (reader)": "`--system lead`: whole sentences",
    "lexrank (reader)": "`--system lexrank`: whole sentences",
}


def latest(what: str) -> dict[str, Any]:
    """Return the newest result of a benchmark; empty if it was never run."""
    found = [path for path in RESULTS.glob("*.json") if path.stem.rsplit("_", 2)[0] == what]
    if not found:
        return {}
    path = max(found, key=lambda path: path.name.rsplit("_", 1)[1])
    record: dict[str, Any] = json.loads(path.read_text())
    return record


def install_table() -> str:
    record = latest("install")
    alone, once = record["alone"], record["once"]
    lines = ["| extra | for | packages | MB |", "|---|---|---|---|"]
    lines.append(f"| none | summarising | {alone['packages']} | {alone['megabytes']:,} |")
    for extra, purpose in EXTRAS.items():
        more = record["more"][extra]
        lines.append(f"| `{extra}` | {purpose} | +{more['packages']} | +{more['megabytes']:,} |")
    largest = ", ".join(f"{name} {size}" for name, size in record["largest"].items())
    note = (
        f"Megabytes are on disk, with torch's CPU build, not counting the bytecode Python compiles on "
        f"first use (another fifth); the largest are {largest}. Before `hub` and `parquet` became "
        f"extras, the base install had {once['packages']} packages and {once['megabytes']:,} MB."
    )
    return "\n".join([*lines, "", fill(note, 118)])


def quality_table() -> str:
    record = latest("extractive_quality")
    groups = {"zhouyii": "short articles", "wikivisual": "long articles"}
    names = [f"{text} ({record['clusters'][group]:,})" for group, text in groups.items()]
    lines = [f"| R-1 / R-2 / R-L | {' | '.join(names)} |", "|---|---|---|"]
    for key, title in SYSTEMS.items():
        cells = " | ".join(_triple(record[key][group]) for group in groups)
        lines.append(f"| {title} | {cells} |")
    return "\n".join(lines)


def speed_table() -> str:
    overlap, extraction = latest("overlap"), latest("extraction")
    rouge = latest("rouge")
    large, small = extraction["large"], extraction["small"]
    whole = extraction["documents_to_summary_seconds"]["reader"]
    return "\n".join(
        [
            "| | times faster |",
            "|---|---|",
            "| ROUGE-2 recall of 2,000 paragraphs, than `rouge-score` "
            f"| {overlap['rouge2_times_faster']} |",
            f"| ROUGE-L of the same, than `rouge-score` | {overlap['rougeL_times_faster']} |",
            f"| ROUGE-1, 2, L and Lsum of {rouge['pairs']:,} summaries with intervals, than "
            f"`rouge-score` with its own | {rouge['times_faster']} |",
            f"| LexRank over {large['sentences']:,} sentences, than `lexrank` "
            f"| {large['times_faster_than_lexrank']} |",
            f"| LexRank over {large['sentences']:,} sentences, than `sumy` "
            f"| {large['times_faster_than_sumy']} |",
            f"| LexRank over {small['sentences']:,} sentences, than `lexrank` "
            f"| {small['times_faster_than_lexrank']} |",
            "",
            f"A summary of {large['paragraphs']} paragraphs took {whole} s from paragraphs to sentences.",
        ]
    )


def rouge_text() -> str:
    record = latest("rouge")
    rows = [
        f"| {metric} | {record['intervals'][metric]['ours'][1]} | {_bounds(record, metric, 'ours')} "
        f"| {_bounds(record, metric, 'theirs')} |"
        for metric in record["intervals"]
    ]
    return "\n".join(
        [
            f"On {record['pairs']:,} Wikipedia leads (the first words of the body as summaries) it took "
            f"{record['times_faster']} times less processor time than `rouge-score` with its own "
            "bootstrap, which draws without a seed:",
            "",
            "| F1 | mean | interval | interval of `rouge-score` |",
            "|---|---|---|---|",
            *rows,
        ]
    )


def _bounds(record: dict[str, Any], metric: str, side: str) -> str:
    low, _, high = record["intervals"][metric][side]
    return f"{low} to {high}"


SEARCHES = {
    ("t5", "greedy, batch 1"): "T5, greedy, 1 cluster",
    ("t5", "beam 5, batch 1"): "T5, beam 5, 1 cluster",
    ("t5", "greedy, batch 8"): "T5, greedy, 8 clusters",
    ("t5", "beam 5, batch 8"): "T5, beam 5, 8 clusters",
    ("released",): "released profile, beam 5, 4 clusters",
}


def searches() -> list[tuple[str, dict[str, Any]]]:
    record = latest("decoding")
    return [
        (title, record[place[0]] if len(place) == 1 else record[place[0]][place[1]])
        for place, title in SEARCHES.items()
    ]


VARIANTS = {"ours": "ours", "int8": "`int8`", "half_source": "`half_source`", "both": "both"}


def search_table() -> str:
    names = " | ".join(VARIANTS.values())
    lines = [
        f"| ms a step (times faster; same tokens) | reference | {names} |",
        f"|---|---|{'---|' * len(VARIANTS)}",
    ]
    for title, result in searches():
        took = result["milliseconds_a_step"]
        other = next(iter(took))
        same = result[f"same_tokens_as_{other}"]
        cells = [
            f"{took[name]} ({result['times_faster'][name]}; {same[name]:.0%})" for name in VARIANTS
        ]
        lines.append(f"| {title} | {took[other]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def roofline_table() -> str:
    bandwidths = [result["copy_gigabytes_a_second"] for _, result in searches()]
    lines = [
        f"A copy moved {min(bandwidths)} to {max(bandwidths)} GB a second between the searches.",
        "",
        "| | MB a step | could take, ms | takes times that | linear | attention | choice | other |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for title, result in searches():
        for name, variant in VARIANTS.items():
            suffix = "" if name == "ours" else f", {variant}"
            roofline = result[f"roofline_{name}"]
            shares = " | ".join(f"{share:.0%}" for share in roofline["share_of_time"].values())
            lines.append(
                f"| {title}{suffix} | {sum(roofline['megabytes_a_step'].values()):.0f} "
                f"| {roofline['milliseconds_a_step']} | {roofline['times_as_long_as_that']} "
                f"| {shares} |"
            )
    return "\n".join(lines)


def search_memory() -> str:
    result = latest("decoding")["released"]
    peak = result["peak_megabytes"]
    return (
        f"Peak memory of the released profile's search: {peak['ours']} MB, "
        f"{peak['usual']} MB the usual way ({result['times_less_memory']} times as much)."
    )


def rounding_errors() -> str:
    record = latest("decoding")
    columns = {"T5": record["t5"]["errors"], "released profile": record["released"]["errors"]}
    lines = [
        f"| change of a first token's log-probabilities | {' | '.join(columns)} |",
        f"|---|{'---|' * len(columns)}",
    ]
    for name, variant in VARIANTS.items():
        cells = [
            f"{errors[name]['mean_log_prob_error']} on average, "
            f"{errors[name]['max_log_prob_error']} at most"
            for errors in columns.values()
            if name in errors
        ]
        if cells:
            lines.append(f"| {variant} | {' | '.join(cells)} |")
    return "\n".join(lines)


def settings_table() -> str:
    sections = dataclasses.fields(hiersum.config.Config)
    return _settings(hiersum.config, {s.name: s.default_factory for s in sections})


def experiment_table() -> str:
    kinds = {"experiment": RunSettings, "corpus": CorpusSettings, "sizes": Sizes}
    return _settings(hiersum.reproduction, kinds)


def _settings(package: Any, sections: dict[str, Any]) -> str:
    files = sorted(Path(package.__file__).parent.glob("*.py"))
    source = "\n".join(path.read_text() for path in files)
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    for section, kind in sections.items():
        body = source.split(f"class {kind.__name__}:", 1)[1]
        for field in dataclasses.fields(kind):
            meaning = re.search(rf'\n    {field.name}: .*?\n    """(.*?)"""', body, re.S)
            assert meaning is not None, field.name
            text = " ".join(meaning[1].split())
            default = "all" if field.default == ROWS else field.default
            lines.append(f"| `{section}.{field.name}` | `{default}` | {text} |")
    return "\n".join(lines)


BUILT = {"train": "train", "valid": "valid", "test": "test", "supported-train": "supported, train"}


def building_table() -> str:
    record, built = latest("building"), latest("built_clusters")
    columns = [{name: shown for name, shown, _ in report_rows(built[key])} for key in BUILT]
    lines = [
        f"| wikilead | {' | '.join(BUILT.values())} | the paper |",
        f"|---|{'---|' * (len(BUILT) + 1)}",
    ]
    for name in columns[0]:
        shown = " | ".join(column[name] for column in columns)
        lines.append(f"| {name} | {shown} | {PAPER.get(name, '')} |")
    rate = record["articles_a_second_and_core"]
    lines += [
        "",
        f"One core reads and indexes {rate['read_and_indexed']:,} articles a second, and builds "
        f"{rate['built']:,} clusters ({rate['paragraphs_built']:,} paragraphs) a second. A look at "
        f"words finds clones {record['clones_times_faster_than_counting']} times as fast as "
        "counting all bigrams.",
    ]
    return "\n".join(lines)


def preparing_table() -> str:
    record, cost = latest("preparing"), latest("padding_cost")
    rate, took = record["paragraphs_a_second"], record["milliseconds_a_cluster"]
    lines = [
        f"One core, on clusters of {record['paragraphs_a_cluster']:.0f} paragraphs from the "
        "wikilead validation articles:",
        "",
        "| paragraphs | a second | ms a cluster |",
        "|---|---|---|",
        *(f"| {name} | {rate[name]:,} | {took[name]} |" for name in rate),
        "",
        f"Preparing takes {record['times_encoding_alone']} times as long as encoding all paragraphs "
        "with SentencePiece alone; 70,000 clusters on two cores take about "
        f"{record['minutes_for_70000_clusters_on_two_cores']:.0f} minutes.",
        "",
        "| share of padding (batches) | bucketed | as they come |",
        "|---|---|---|",
    ]
    for kind, found in record["padding"].items():
        for size in sorted({int(name.rsplit(" ", 1)[1]) for name in found if ", " in name}):
            ways = [found[f"{way}, {size}"] for way in ("bucketed", "as they come")]
            cells = " | ".join(f"{w['padding_share']:.0%} ({w['batches']})" for w in ways)
            lines.append(f"| {kind}, {size:,} tokens a batch | {cells} |")
    speed, faster = cost["real_tokens_a_second"], cost["times_faster_bucketed"]
    return "\n".join(
        [
            *lines,
            "",
            "Our networks compute real tokens only, so that this padding costs them nothing but room in "
            f"a batch: a training step goes through {speed['ours']['bucketed']:,} real tokens a second "
            f"with bucketing and {speed['ours']['as they come']:,} without "
            f"({faster['ours']} times as fast), a padded network written the obvious way through "
            f"{speed['padded']['bucketed']:,} and {speed['padded']['as they come']:,} "
            f"({faster['padded']} times).",
        ]
    )


def ranking_table() -> str:
    quality, speed = latest("ranker_quality"), latest("ranker")
    names = {
        "similarity": "tf-idf similarity",
        "length": "length alone",
        "ranker": "LSTM ranker",
        "cited": "citation scorer",
        "oracle": "oracle (sees the target)",
    }
    cuts = quality["cuts"]
    lines = [
        f"| ROUGE-L recall | {' | '.join(str(cut['paragraphs']) for cut in cuts)} |",
        f"|---|{'---|' * len(cuts)}",
        f"| clusters | {' | '.join(format(cut['clusters'], ',') for cut in cuts)} |",
    ]
    for name, title in names.items():
        lines.append(f"| {title} | {' | '.join(with_interval(cut[name]) for cut in cuts)} |")
    for one, other in (
        ("ranker", "similarity"),
        ("ranker", "length"),
        ("cited", "similarity"),
        ("cited", "length"),
    ):
        shown = " | ".join(with_interval(cut[f"{one} - {other}"]) for cut in cuts)
        lines.append(f"| {names[one]} minus {names[other]} | {shown} |")
    for name in ("similarity", "ranker"):
        shown = " | ".join(str(cut["paper"][name]) for cut in cuts)
        lines.append(f"| *the paper's {name}, on WikiSum* | {shown} |")
    rate = speed["learned_paragraphs_per_second"]
    lines += [
        "",
        f"`{quality['signature']}`",
        "",
        f"Learning takes in {rate['ours']:,} paragraphs of {speed['tokens_per_paragraph']} tokens a "
        f"second on {speed['threads']} threads, {speed['times_faster_than_torch_padded']} times as many "
        "as with torch's LSTM over padded batches and "
        f"{speed['times_faster_than_torch_packed']} times as many as over packed ones; its matrix "
        f"products run at {speed['share_of_peak']:.0%} of the rate of one large product. Ranking 300 "
        f"paragraphs takes {speed['seconds_to_rank_300_paragraphs']} s.",
    ]
    return "\n".join(lines)


def cited_table() -> str:
    """Return what rankers find of cited paragraphs, and of the title's own article."""
    record = latest("ranker_cited")
    own, large, mixed, found = (
        record[name]
        for name in (
            "own paragraphs",
            "own paragraphs, of more than 10",
            "20 distractors",
            "search results, share of the own article",
        )
    )
    columns = {
        "own, at 5": own[0],
        "own > 10, at 5": large[0],
        "own > 10, at 10": large[1],
        "20 distractors, at 5": mixed[0],
        "20 distractors, at 10": mixed[1],
        "search results: own article in the first 10": found[0],
    }
    names = {
        "reading order": "reading order",
        "similarity": "tf-idf similarity",
        "length": "length alone",
        "ranker": "LSTM ranker",
        "cited": "**citation scorer**",
        "oracle": "oracle (sees what is asked for)",
    }
    rows = [("recall of cited paragraphs, %", list(columns)), ("---", ["---"] * len(columns))]
    rows.append(("clusters", [str(column["clusters"]) for column in columns.values()]))
    for name, title in names.items():
        rows.append((title, [f"{column[name]['mean']:.1f}" for column in columns.values()]))
    for name in ("similarity", "length", "ranker", "reading order"):
        cells = [
            "{mean:.1f} ({low:.1f} to {high:.1f})".format_map(column[f"cited - {name}"])
            for column in columns.values()
        ]
        rows.append((f"scorer minus {names[name]}", cells))
    lines = [f"| {title} | {' | '.join(cells)} |" for title, cells in rows]
    return "\n".join([*lines, "", f"`{record['signature']}`"])


HAND_SET = "writing/test_hand_set.py"
HELD = {
    "writing/policy.py": {
        "MIN_SHARE": "writing/test_policy.py::test_stop_counts_only_after_most_of_the_wanted_words",
        "MIN_ROOM": "writing/test_policy.py::test_summary_ends_where_no_sentence_has_room",
        "MAX_SENTENCES": "writing/test_policy.py::test_plan_joins_at_most_two_that_likely_belong",
        "FOCUS_WEIGHT": f"{HAND_SET}::test_focus_weight_is_eight",
        "SPEAKS_OF_ITSELF": f"{HAND_SET}::test_sentence_that_says_i_loses_four",
    },
    "writing/planned.py": {
        "MAX_TRIES": f"{HAND_SET}::test_summary_ends_at_the_fifth_failed_plan",
    },
    "writing/page.py": {
        "MIN_QUOTED_WORDS": f"{HAND_SET}::test_quotation_has_four_to_forty_words",
        "MAX_QUOTED_WORDS": f"{HAND_SET}::test_quotation_has_four_to_forty_words",
        "SAME": f"{HAND_SET}::test_seven_of_ten_content_words_are_a_repetition",
    },
    "writing/neural_model.py": {
        "_MAX_UNKNOWN": f"{HAND_SET}::test_one_unknown_word_in_five_can_be_read",
    },
    "writing/extractive.py": {
        "_FOCUS_WEIGHT": f"{HAND_SET}::test_lexrank_prefers_the_title_the_focus_and_what_stands_early",
        "_LATENESS": f"{HAND_SET}::test_lexrank_prefers_the_title_the_focus_and_what_stands_early",
        "_MIN_RANK": f"{HAND_SET}::test_lexrank_prefers_the_title_the_focus_and_what_stands_early",
        "_SUMMARY_WORDS": f"{HAND_SET}::test_lexrank_sentence_has_6_to_60_words",
    },
    "data/planning.py": {
        "MAX_SENTENCES": f"{HAND_SET}::test_plan_for_training_has_three_sentences",
        "MIN_GAIN": f"{HAND_SET}::test_further_source_must_add_15_percent",
        "MIN_COVERED": f"{HAND_SET}::test_plan_must_hold_30_percent",
        "MIN_SAFE": f"{HAND_SET}::test_safe_sentence_has_seven_words_in_ten",
    },
    "data/augmentation.py": {
        name: f"{HAND_SET}::test_augmentation_changes_as_often_as_it_says"
        for name in ("HIDE_TITLE", "DROP_PARAGRAPH", "ADD_FOREIGN", "ADD_NOISE", "GLUE_MENU")
    },
}
"""Numbers that were set by hand, by file, and the test that fails when one changes."""


def constants_table() -> str:
    lines = ["| constant | value | meaning | held by |", "|---|---|---|---|"]
    for file, names in HELD.items():
        source = (ROOT / "src" / "hiersum" / file).read_text()
        module = importlib.import_module(f"hiersum.{file.removesuffix('.py').replace('/', '.')}")
        for name, test in names.items():
            where, function = test.split("::")
            assert f"def {function}(" in (ROOT / "tests" / where).read_text(), test
            pattern = rf'^{name} = [^\n#]*(?:  # ([^\n]*)|\n"""(.*?)""")'
            meaning = re.search(pattern, source, re.S | re.M)
            assert meaning is not None, f"{file}: {name} needs a docstring"
            text = " ".join((meaning[1] or meaning[2]).split())
            value = getattr(module, name)
            if isinstance(value, range):
                value = f"{value.start} to {value.stop - 1}"
            lines.append(f"| `{file}` `{name}` | {value} | {text} | `{function}` |")
    return "\n".join(lines)


SETS = {
    "written test": "`written` test: many kinds of text, summaries written for them",
    "folders": "folders of documents about one topic",
    "kinds": "made-up folders of six kinds of text (`benchmarks/kinds.jsonl`)",
}


def writer_table() -> str:
    """The model beside LexRank and Lead, both as long as its summaries."""
    record = latest("writer_quality")
    if not record:
        return "Not measured yet: run `benchmarks/writer_quality.py`."
    lines = [
        "| R-1 / R-2 / R-L (clusters) | the model | LexRank | Lead | words | new word pairs |",
        "|---|---|---|---|---|---|",
    ]
    for name, title in SETS.items():
        of_set = record[name]
        systems = [of_set["model"]]
        systems += [of_set[f"{other}, as long as the model's"] for other in ("lexrank", "lead")]
        cells = [_triple(scores, ("R-1", "R-2", "R-L")) for scores in systems]
        words, new = (of_set["model"][key]["mean"] for key in ("words", "new word pairs, %"))
        cells += [f"{words:.0f}", f"{new:.0f} %"]
        lines.append(f"| {title} ({of_set['clusters']}) | {' | '.join(cells)} |")
    return "\n".join(lines)


def ceiling_table() -> str:
    """The writer with its planner's plans and with the references'."""
    record = latest("perfect_plans")
    lines = ["| written from | R-1 / R-2 / R-L | LexRank | Lead | words | quoted |"]
    lines.append("|---|---|---|---|---|---|")
    for name in ("the planner's plans", "the references' plans"):
        of_plans = record[name]
        others = [of_plans[f"{other}, as long as the model's"] for other in ("lexrank", "lead")]
        cells = [_triple(of, ("R-1", "R-2", "R-L")) for of in (of_plans["model"], *others)]
        words, quoted = (
            of_plans["model"][key]["mean"] for key in ("words", "said to be quoted, %")
        )
        lines.append(f"| {name} | {' | '.join(cells)} | {words:.0f} | {quoted:.0f} % |")
    gains = record["gain, paired"].items()
    said = ", ".join(f"{of['mean']} ({of['low']} to {of['high']}) in {name}" for name, of in gains)
    count = record["the planner's plans"]["clusters"]
    return "\n".join([*lines, "", fill(f"Gain on the {count} clusters, paired: {said}.", 118)])


ABLATED = (
    "loss a piece",
    "planner's loss a boundary",
    "repeated sentences, %",
    "R-1",
    "R-2",
    "R-L",
)


def ablations_table() -> str:
    """The base's scores, and the difference of every other arm."""
    record = latest("ablations")
    lines = [f"| | {' | '.join(ABLATED)} |", "|" + "---|" * (1 + len(ABLATED))]
    for name, scores in record["arms"].items():
        cells = [name]
        for score in ABLATED:
            of = scores.get(score) or scores.get(f"{score}, its own plans")
            if of is None:
                cells.append("")
            elif name == "base":
                cells.append(f"{of['value']}")
            else:
                cells.append(f"{of['minus base'] or 0.0:+} ({of['low']} to {of['high']})")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def side_by_side_table() -> str:
    """hiersum and what one would use instead; with what readers found false, if they have read."""
    record, read = latest("side_by_side"), latest("side_by_side_readers")
    written, folders = record["written test"], record["folders"]
    columns = [
        "",
        f"R-1 / R-2 / R-L, `written` test ({written['clusters']})",
        f"folders ({folders['clusters']})",
        *(["false sentences"] if read else []),
        "words",
        "seconds",
        "MB (with requirements)",
    ]
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    for name, size in record["megabytes"].items():
        of_sets = [of_set["systems"][name] for of_set in (written, folders)]
        cells = [name] + [_triple(scores, ("R-1", "R-2", "R-L")) for scores in of_sets]
        if read:
            false = read["systems"].get(name, {}).get("false, %")
            said = "{mean:.0f} % ({low:.0f} to {high:.0f})"
            cells.append(said.format(**false) if false else "not read")
        cells.append(" / ".join(f"{s['words']['mean']:.0f}" for s in of_sets))
        cells.append(" / ".join(f"{s['processor seconds a cluster']:.2g}" for s in of_sets))
        cells.append(f"{size['package or model']:,.1f} ({size['with requirements']:,.0f})")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _triple(
    scores: dict[str, dict[str, float]], metrics: Sequence[str] = ("rouge1", "rouge2", "rougeL")
) -> str:
    """Return the means of ROUGE-1, 2 and L, and the widest side of their intervals."""
    chosen = [scores[metric] for metric in metrics]
    margin = max(max(s["high"] - s["mean"], s["mean"] - s["low"]) for s in chosen)
    means = " / ".join(f"{s['mean']:.1f}" for s in chosen)
    return f"{means} (± {margin:.1f})"


def with_interval(score: dict[str, float]) -> str:
    return f"{score['mean']:.2f} ({score['low']:.2f} to {score['high']:.2f})"


def attribution_table() -> str:
    record, fit = latest("attribution"), latest("source_scores")
    settings = record["settings"]
    lines = [
        "| beside the article stands | dropped | right | where words can tell |",
        "|---|---|---|---|",
    ]
    for name, found in settings.items():
        beside = name.rpartition(", ")[2] if found["setting"]["copy"] else "nothing"
        shares = [percent(found[key]) for key in ("right_paragraph_first", "where_words_can_tell")]
        lines.append(f"| {beside} | {found['setting']['dropped']:.0%} | {' | '.join(shares)} |")
    still_named = percent(record["source named though its paragraph was taken away"])
    error = fit["by_words"]["held_out"]["expected_calibration_error"]
    return "\n".join(
        [
            *lines,
            "",
            "Words can tell where no copy has all the words that are left. Of sentences whose paragraph "
            f"was taken away, {still_named} are still given a source. Scores differ from the share that "
            f"is right by {error:.4f} on average (expected calibration error, held-out articles).",
        ]
    )


def percent(share: dict[str, float]) -> str:
    return f"{share['percent']:.1f} % ({share['low']:.1f} to {share['high']:.1f})"


def serving_text() -> str:
    record = latest("serving")
    seconds = record["processor_seconds_per_request"]
    return (
        f"With a network of Flan-T5-small's size and {record['clients']} requests waiting at once "
        f"(wikilead articles, at most {record['max_words']} words, one thread), a request took "
        f"{seconds['batched']} s of processor time in batches and {seconds['one at a time']} s one at a "
        f"time ({record['times_less_processor_time']} times; median of {record['rounds']} rounds); "
        f"{record['same_summaries']} summaries were the same in both."
    )


def reproduced_tables(name: str, makers: Sequence[Callable[[dict[str, Any]], Table | None]]) -> str:
    """Return tables of the report of an experiment."""
    record = json.loads((RESULTS / name / "report.json").read_text())
    tables = [make(record) for make in makers]
    parts = [table.to_markdown() for table in tables if table is not None]
    clock, processor = (
        sum(stage[name] for stage in record["stages"]) for name in ("seconds", "processor_seconds")
    )
    parts.append(
        f"All stages together took {spoken(clock)} ({spoken(processor)} of processor time)."
    )
    return "\n\n".join(parts)


def warm_text() -> str:
    """Return the cost of the warm experiment, from a trial of it and from its file."""
    trial = latest("warm")["trained"]["ht"]
    experiment = load_experiment(ROOT / "configs" / "experiments" / "warm.toml")
    number = sum(len(experiment.runs(name)) for name in experiment.networks)
    per_cluster = trial["processor_seconds"] / trial["clusters"]
    hours = number * experiment.run.clusters * per_cluster / 3600
    wrote = latest("warm")["wrote"]["ht"]
    per_summary = wrote["processor_seconds"] / wrote["clusters"]
    num_networks = sum(row not in ("lead", "lexrank") for row in experiment.rows)
    num_written = (num_networks + number - len(experiment.networks)) * experiment.corpus.max_test
    return (
        f"In a trial with {trial['clusters']} training clusters, HT took {trial['processor_seconds']} "
        f"processor seconds of one thread, with its start, validation and checkpoints, so at most "
        f"{per_cluster:.1f} a cluster. {number} trainings of {experiment.run.clusters} clusters are "
        f"then at most {hours:.1f} hours of one core if all networks cost as much as HT, and writing "
        f"{num_written:,} summaries, at {per_summary:.1f} seconds each, "
        f"{num_written * per_summary / 3600:.1f} more. T-DMCA costs more than that, since it predicts "
        "its source too. With every other layer of the "
        f"T5, the loss of the first eight clusters was {trial['first_loss_with_every_other_layer']:.1f} "
        f"a token, with all {trial['first_loss']:.1f}; so all are kept."
    )


def relations_table() -> str:
    record = latest("relations")
    lines = []
    for group, title in (("networks", ""), ("depth", "look-up at the paper's depth")):
        runs = [run for run in record["runs"] if run["group"] == group]
        tasks = list(dict.fromkeys(run["task"] for run in runs))
        guesses = [f"{100 * record['guessing'][task]:.0f} %" for task in tasks]
        heads = [f"{title or task} (guessing: {guess})" for task, guess in zip(tasks, guesses)]
        lines += ["", f"| | {' | '.join(heads)} |", "|---|" + "---|" * len(tasks)]
        for name in dict.fromkeys(run["name"] for run in runs):
            found = {run["task"]: run for run in runs if run["name"] == name}
            cells = [
                f"{100 * run['right']:.0f} % ({run['updates']} updates)"
                for run in (found[task] for task in tasks if task in found)
            ]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    seconds = sum(run["processor_seconds"] for run in record["runs"])
    return "\n".join([*lines[1:], "", f"All of it took {spoken(seconds)} of one core."])


def false_alarms_table() -> str:
    record = latest("false_alarms")
    kinds = {"alike": "equally good on every cluster", "varying": "better here, worse there"}
    names = {"rating": "rating", "qa": "question answering"}
    lines = [
        f"| {record['studies']:,} studies each; systems are | ANOVA | Tukey | by items |",
        "|---|---|---|---|",
    ]
    for name, title in names.items():
        for kind, meaning in kinds.items():
            rates = record[f"{name}, {kind}"]
            cells = " | ".join(
                f"{100 * rates[test]:.1f} %" for test in ("anova", "tukey", "by items")
            )
            lines.append(f"| {title}: {meaning} | {cells} |")
    return "\n".join(lines)


ROOMS = """pipeline types config errors jobs pretrained text ranking graphs model writing checking
data training evaluation building reproduction humaneval reporting serving cli""".split()


def tree() -> str:
    """The package as a tree: each room and file with the first sentence of its docstring."""
    package = Path(hiersum.__file__).parent
    files = [path for path in package.rglob("*.py") if path.name not in NO_ROOMS]
    rooms = {path.relative_to(package).parts[0].removesuffix(".py") for path in files}
    order = [name for name in ROOMS if name in rooms] + sorted(rooms - set(ROOMS))
    lines = ["src/hiersum/"]
    for room in order:
        if (package / f"{room}.py").exists():
            lines.append(f"  {room + '.py':20}{first_sentence(package / f'{room}.py')}")
            continue
        lines.append(f"  {room + '/':20}{first_sentence(package / room / '__init__.py')}")
        for path in sorted(path for path in files if path.parent == package / room):
            lines.append(f"    {path.name:20}{first_sentence(path)}")
    return "\n".join(["```", *lines, "```"])


def kills_table() -> str:
    """Return how often each command was killed, and how often its result was the same."""
    found = latest("torture_kill")["kill"] | latest("torture_ray").get("ray", {})
    lines = [
        "| command | kills | finished runs | equal to a run never killed |",
        "|---|---|---|---|",
    ]
    for name, of in found.items():
        if name != "judges":
            lines.append(f"| `{name}` | {of['kills']} | {of['runs']} | {of['equal']} |")
    if judges := found.get("judges"):
        lines.append(
            f"\nA process that stores judges' answers was killed {judges['kills']} times: of "
            f"{judges['acknowledged']:,} acknowledged answers, {judges['lost']} were lost and "
            f"{judges['doubled']} stored twice."
        )
    lines.append(f"\nKills in all: {sum(of['kills'] for of in found.values())}.")
    return "\n".join(lines)


def fuzz_table() -> str:
    """Return how often atheris ran each reader, and what it found."""
    lines = ["| reader | inputs | places in the code reached | findings |", "|---|---|---|---|"]
    found = latest("fuzz")["fuzz"]
    for name, of in found.items():
        lines.append(f"| {name} | {of['inputs']:,} | {of['reached']:,} | {int('finding' in of)} |")
    return "\n".join([*lines, f"\nIn all {sum(of['inputs'] for of in found.values()):,} inputs."])


def disks_table() -> str:
    """Return what happened on full and read-only disks."""
    lines = [
        "| command | refused, of 3 sizes | equal after more room | read-only refused |",
        "|---|---|---|---|",
    ]
    for name, of in latest("torture_disk")["disk"].items():
        words = ["yes" if of[key] else "no" for key in ("equal after", "read-only")]
        lines.append(f"| `{name}` | {of['refused']} | {words[0]} | {words[1]} |")
    return "\n".join(lines)


def hostile_table() -> str:
    """Return how hostile inputs ended."""
    found = latest("torture_hostile")["hostile"]
    lines = [
        "| input | read | refused | other errors | hang | greedy | slowest, processor s |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, of in found.items():
        cells = [f"{of[key]:,}" for key in ("read", "refused", "bugs", "hangs", "greedy")]
        lines.append(f"| {name} | {' | '.join(cells)} | {of['slowest_processor_seconds']} |")
    ends = ("read", "refused", "bugs", "hangs")
    total = sum(of[key] for of in found.values() for key in ends)
    lines.append(f"\nIn all {total:,} inputs.")
    return "\n".join(lines)


def soak_table() -> str:
    """Return what the clients of a busy server saw."""
    found = latest("soak")
    if not found:
        return ""
    lines = [
        "| part | answered by the writer | by LexRank | told to come again (429) | cancelled |",
        "|---|---|---|---|---|",
    ]
    for part in ("burst", "soak", "stop"):
        of = found[part]
        cells = [of.get(name, 0) for name in ("ht 200", "lexrank 200", "429", "cancelled")]
        lines.append(f"| {part} | {' | '.join(f'{cell:,}' for cell in cells)} |")
    memory = [point["megabytes"] for point in found["memory"]]
    own = found["soak"].get("held to the summarizer's own", 0)
    lines.append(
        f"\nWrong answers: {len(found['wrong'])}. The soak took {found['soak_minutes']} minutes; "
        f"{own} of its answers were compared with the summarizer's own. The server took at most "
        f"{max(memory):,} MB, and {memory[-1]:,} MB at the end."
    )
    return "\n".join(lines)


NO_ROOMS = ("__init__.py", "__main__.py")


def first_sentence(path: Path) -> str:
    """Return the first sentence of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text())) or ""
    return re.split(r"(?<=[.?])\s", " ".join(text.split("\n\n")[0].split()))[0].rstrip(".")


PAGES = {
    "README.md": {"writer": writer_table, "beside": side_by_side_table},
    "src/hiersum/pretrained/README.md": {"writer": writer_table},
    "docs/index.md": {"extras": install_table},
    "docs/architecture.md": {"tree": tree},
    "docs/configuration.md": {"settings": settings_table},
    "docs/evaluation.md": {"rouge": rouge_text, "quality": quality_table},
    "docs/reproducing.md": {
        "experiment": experiment_table,
        "reproduced": lambda: reproduced_tables("two-hours", (main_table, ablation_table)),
        "warm-hour": lambda: reproduced_tables(
            "warm-hour", (main_table, longer_table, ablation_table, reading_table, seed_table)
        ),
        "relations": relations_table,
        "warm": warm_text,
    },
    "docs/models.md": {"attribution": attribution_table},
    "docs/reliability.md": {
        "kills": kills_table,
        "fuzz": fuzz_table,
        "disks": disks_table,
        "hostile": hostile_table,
        "soak": soak_table,
    },
    "docs/serving.md": {"serving": serving_text},
    "docs/performance.md": {
        "speed": speed_table,
        "start": lambda: performance.start_table(latest("start")),
        "written": lambda: performance.writing_table(latest("writing_1"), latest("writing_8")),
        "released": lambda: performance.released_text(latest("decoding")),
        "growth": lambda: performance.growth_table(
            latest("encoding_cost"), latest("encoding_growth")
        ),
        "documents": lambda: performance.documents_table(latest("many_documents")),
        "beams": lambda: performance.beams_table(latest("decoding")),
        "steps": lambda: performance.training_text(
            latest("training_step"), latest("ranker"), latest("preparing")
        ),
        "million": lambda: performance.million_table(
            latest("scale"), latest("writing_8") or latest("writing_1")
        ),
    },
    "docs/human-evaluation.md": {"false-alarms": false_alarms_table},
    "docs/training.md": {
        "building": building_table,
        "cited": cited_table,
        "ranking": ranking_table,
        "preparing": preparing_table,
    },
    "docs/scale.md": {
        "rates": lambda: wikisum.rates_table(latest("scale")),
        "wikisum": lambda: wikisum.wikisum_table(latest("scale")),
    },
    "docs/writing.md": {
        "ceiling": ceiling_table,
        "ablations": ablations_table,
        "constants": constants_table,
        "search": search_table,
        "memory": search_memory,
        "rounding": rounding_errors,
        "roofline": roofline_table,
    },
}


def rendered(page: str) -> str:
    """Return a page with its tables made anew."""
    text = (ROOT / page).read_text()
    for name, make in PAGES[page].items():
        pattern = rf"<!-- {name} -->\n.*?<!-- /{name} -->"
        assert re.search(pattern, text, re.S), f"{page} has no place for {name}"
        table = f"<!-- {name} -->\n{make()}\n<!-- /{name} -->"
        text = re.sub(pattern, lambda _, table=table: table, text, flags=re.S)
    return text


if __name__ == "__main__":
    for page in PAGES:
        (ROOT / page).write_text(rendered(page))
        print(f"{page} written", file=sys.stderr)
