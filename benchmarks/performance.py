"""The tables of docs/performance.md, from results files; `benchmarks/tables.py` puts them there."""

from __future__ import annotations

from typing import Any

Record = dict[str, Any]
COMMANDS = {
    "--version": "`hiersum --version`",
    "--help": "`hiersum --help`",
    "wrong path": "a path that does not exist",
    "wrong setting": "a setting that does not exist",
    "lexrank": "`summarize examples/harbour-bridge --system lexrank`",
    "the model": "`summarize examples/harbour-bridge`",
}
CLUSTERS = 1_000_000
CORES = 128


def start_table(record: Record) -> str:
    """How soon commands answer."""
    lines = ["| | processor seconds | peak MB |", "|---|---|---|"]
    for name, title in COMMANDS.items():
        cost = record["commands"][name]
        lines.append(f"| {title} | {cost['processor_seconds']} | {cost['peak_mb']} |")
    terminal = record["terminal"]
    return "\n".join(
        [
            *lines,
            "",
            f"On a terminal, something moves after {terminal['moves']} s of processor time, and the "
            f"model's first sentence shows after {terminal['first_sentence']} s. Other work kept the "
            f"machine busy (load {record['load'][0]} on {record['machine'].split(',')[0]}).",
        ]
    )


def writing_table(*records: Record) -> str:
    """The bundled writer beside `generate`."""
    lines = [
        "| processor seconds | `transformers` | float32 | eight bits | eight bits, than float32 |",
        "|---|---|---|---|---|",
    ]
    for record in filter(None, records):
        took, times = record["processor_seconds"], record["times_faster_than_transformers"]
        ours = " | ".join(f"{took[name]} ({times[name]} times)" for name in ("float32", "int8"))
        lines.append(
            f"| clusters: {record['clusters']}; {record['source_tokens']:,} source tokens, "
            f"{record['steps']} steps | {took['transformers']} | {ours} "
            f"| {record['int8_times_faster_than_float32']} times |"
        )
    same = records[0]["same_tokens_from_the_whole_source"]
    return "\n".join(
        [*lines, "", f"Where both read the whole source, {same} tokens are the same (float32)."]
    )


def released_text(record: Record) -> str:
    """The exact search of the released profile, and its distance to the roofline."""
    found = record["released"]
    roofline = found["roofline_ours"]
    step = found["milliseconds_a_step"]["ours"]
    sizes = roofline["megabytes_a_step"]
    read = {
        "linear": sizes["weights"] + sizes["vocabulary"],
        "attention": sizes["source"] + sizes["summary"],
    }
    lines = [
        f"The exact search takes {step} ms a step, the usual way {found['milliseconds_a_step']['usual']} "
        f"ms ({found['times_faster']['ours']} times), with {found['times_less_memory']} times less "
        f"memory. Copying the bytes of a step would take {roofline['milliseconds_a_step']} ms, so a step "
        f"takes {roofline['times_as_long_as_that']} times what the memory allows. By part:",
        "",
        "| part of a step | ms | MB read | ms to copy them | times that |",
        "|---|---|---|---|---|",
    ]
    for name, share in roofline["share_of_time"].items():
        took = share * step
        cells = ["", "", ""]
        if name in read:
            least = read[name] / found["copy_gigabytes_a_second"]
            cells = [f"{read[name]:.1f}", f"{least:.2f}", f"{took / least:.1f}"]
        lines.append(f"| {name} | {took:.2f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def growth_table(cost: Record, growth: Record) -> str:
    """How the cost of reading grows with paragraphs."""
    lines = [
        "| paragraphs of 70 tokens | hierarchical, s (MB) | flat, s (MB) |",
        "|---|---|---|",
    ]
    for row in cost["rows"]:
        cells = [f"{row[f'{s}_seconds']} ({row[f'{s}_megabytes']})" for s in ("ht", "ft")]
        lines.append(f"| {row['paragraphs']} | {' | '.join(cells)} |")
    if not growth:
        return "\n".join(lines)
    parts = [
        f"{row['paragraphs']:,} paragraphs took {row['seconds']} s and {row['megabytes']:,} MB"
        for row in growth["rows"]
    ]
    times = growth["times_the_first_per_paragraph"]
    first, *_, last = [row["paragraphs"] for row in growth["rows"]]
    return "\n".join(
        [
            *lines,
            "",
            f"Measured again, the hierarchical one alone: {'; '.join(parts)}. A paragraph among {last:,} "
            f"costs {times[-1]} times one among {first}.",
        ]
    )


def documents_table(record: Record) -> str:
    """What a folder of thousands of documents costs."""
    lines = [
        f"| {record['documents']:,} documents, {record['megabytes']} MB | processor seconds | seconds "
        "| peak MB | documents without a used paragraph, all named |",
        "|---|---|---|---|---|",
    ]
    for name, cost in record["systems"].items():
        lines.append(
            f"| {name} | {cost['processor_seconds']} | {cost['seconds']} | {cost['peak_mb']} "
            f"| {cost['named_as_unread']:,} |"
        )
    return "\n".join(lines)


def beams_table(record: Record) -> str:
    """How the cost of a step grows with beams and clusters."""
    searches = {name: found for name, found in record["t5"].items() if "batch" in name}
    first = next(iter(searches.values()))["processor_milliseconds_a_step"]
    lines = [
        "| T5, processor ms a step (times the first row) | `transformers` | ours | eight bits |",
        "|---|---|---|---|",
    ]
    for name, found in searches.items():
        took = found["processor_milliseconds_a_step"]
        cells = [
            f"{took[system]} ({took[system] / first[system]:.1f})"
            for system in ("transformers", "ours", "int8")
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def training_text(step: Record, ranker: Record, preparing: Record) -> str:
    """Training, ranking and preparing."""
    ragged = step["ragged"]
    return (
        f"A training step of the paper's size on ragged text takes {ragged['seconds']['ours']} s of "
        f"processor time, a padded network {ragged['seconds']['obvious']} s "
        f"({ragged['times_faster']} times), with {ragged['times_less_memory']} times less memory. The "
        f"learned ranker ranks {300 / ranker['seconds_to_rank_300_paragraphs']:,.0f} paragraphs a "
        f"second on {ranker['threads']} threads, and learns from "
        f"{ranker['learned_paragraphs_per_second']['ours']} of "
        f"{ranker['tokens_per_paragraph']:.0f} tokens. "
        f"Preparing takes {preparing['milliseconds_a_cluster']['prepared']} ms for a cluster of "
        f"{preparing['paragraphs_a_cluster']:.0f} paragraphs."
    )


def million_table(scale: Record, batch: Record) -> str:
    """What a million clusters would cost: measured rates, multiplied."""
    rates = {
        "join pages to clusters": scale["per_core_second"]["clusters joined"],
        "prepare for training": scale["after_building"]["clusters prepared per second"],
        "summarise with LexRank": scale["after_building"][
            "clusters summarised by lexrank per second"
        ],
        "summarise with the model": batch["clusters"] / batch["processor_seconds"]["int8"],
    }
    lines = [
        f"| {CLUSTERS:,} clusters | clusters a core second | core hours | hours on {CORES} cores |",
        "|---|---|---|---|",
    ]
    for name, rate in rates.items():
        hours = CLUSTERS / rate / 3600
        lines.append(f"| {name} | {rate:.4g} | {hours:,.1f} | {hours / CORES:.2g} |")
    return "\n".join(lines)
