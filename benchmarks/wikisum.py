"""The arithmetic of the whole WikiSum, from measured rates and assumptions that stand beside it.

`benchmarks/tables.py` puts it into docs/scale.md.
"""

from __future__ import annotations

from typing import Any

ASSUMED = {
    "articles with a cluster": (1_655_709, "the paper: 1,579,360 + 38,144 + 38,205"),
    "paragraphs per cluster": (525, "the paper"),
    "cited and searched addresses": (90_000_000, "the first WikiSum: 2.3 million articles, 40 each"),
    "share of them that is found": (0.789, "the paper"),
    "gigabytes of XML in the dump": (100, "English Wikipedia, about 20 GB packed"),
    "kilobytes of HTML per page": (100, "a guess; a smaller page costs less"),
    "dollars per core-hour": (0.04, "a usual price of rented processors; put in yours"),
}  # fmt: skip


def assumed(name: str) -> float:
    return ASSUMED[name][0]


def core_hours(record: dict[str, Any]) -> dict[str, float]:
    """Return core-hours of each stage at the measured rates.

    A page costs by its markup and by its text: of both estimates the larger counts.
    """
    rate, size = record["per_core_second"], record["input"]
    after = record["after_building"]
    paragraphs = assumed("articles with a cluster") * assumed("paragraphs per cluster")
    megabytes = num_pages() * assumed("kilobytes of HTML per page") / 1_000
    prepared = after["clusters prepared per second"] * after["paragraphs per cluster"]
    indexed = rate["pages indexed"] * size["page_paragraphs"] / size["pages"]
    seconds = {
        "read the dump": 1_000
        * assumed("gigabytes of XML in the dump")
        / rate["megabytes of XML read"],
        "read pages": max(
            megabytes / rate["megabytes of HTML read"],
            paragraphs / rate["paragraphs of pages read"],
        ),
        "index pages": paragraphs / indexed,
        "join clusters": paragraphs / rate["paragraphs joined"],
        "prepare for training": paragraphs / prepared,
    }
    return {stage: value / 3_600 for stage, value in seconds.items()}


def gigabytes(record: dict[str, Any]) -> dict[str, float]:
    """Return what lies on disk, scaled by articles and by paragraphs."""
    found, size = record["bytes"], record["input"]
    clusters = assumed("articles with a cluster")
    paragraphs = clusters * assumed("paragraphs per cluster")
    longer = assumed("paragraphs per cluster") / record["after_building"]["paragraphs per cluster"]
    return {
        "articles": found["articles"] / size["articles"] * clusters / 1e9,
        "pages, packed": found["pages"] / size["page_paragraphs"] * paragraphs / 1e9,
        "index": found["index"] / size["page_paragraphs"] * paragraphs / 1e9,
        "clusters": found["clusters"] / size["articles"] * clusters * longer / 1e9,
        "prepared set": record["after_building"]["prepared bytes per cluster"] * clusters / 1e9,
    }


def num_pages() -> float:
    return assumed("cited and searched addresses") * assumed("share of them that is found")


def rates_table(record: dict[str, Any]) -> str:
    """Return the measured rates as a table."""
    size, memory, load = record["input"], record["memory"], record["load"]
    faster, rate = record["times_faster_in_wall_clock"], record["per_core_second"]
    after = record["after_building"]
    one, two = record["seconds_one_worker"], record["seconds_two_workers"]
    rows = [
        *rate.items(),
        *((name, value) for name, value in after.items() if name.endswith("per second")),
    ]
    lines = [
        f"Measured on {size['articles']:,} articles and {size['pages']:,} pages "
        f"({size['page_bytes'] / size['pages'] / 1e3:.0f} kB of HTML each, "
        f"{after['paragraphs per cluster']:.0f} paragraphs per cluster):",
        "",
        "| | per second of one core |",
        "|---|---|",
        *(f"| {name.removesuffix(' per second')} | {value:,} |" for name, value in rows),
        "",
        f"Two workers beside one: reading pages took {one['read pages']['cpu']} s of processor time with "
        f"one and {two['read pages']['cpu']} s with two, joining {one['join']['cpu']} and "
        f"{two['join']['cpu']} s; on the clock they were {faster['read pages']} and {faster['join']} "
        f"times as fast (load {load['before']:.0f} to {load['after']:.0f}). Reading the dump, "
        f"{one['read the dump']['wall']} and {two['read the dump']['wall']} s, gains nothing here: it is "
        "spread by chunks of 8 MB, and this dump is hardly more than one.",
        "",
        f"Memory: at most {memory['megabytes_small']:.0f} MB for {memory['articles'][0]:,} articles and "
        f"{memory['megabytes_large']:.0f} MB for {memory['articles'][1]:,}, the program, two workers "
        "and their guarded readers together (sampled; shared memory counted once, mapped files not).",
    ]
    return "\n".join(lines)


def wikisum_table(record: dict[str, Any]) -> str:
    """Return the arithmetic as tables."""
    hours, disk = core_hours(record), gigabytes(record)
    total = sum(hours.values())
    price = assumed("dollars per core-hour")
    lines = ["| assumed | | from |", "|---|---|---|"]
    lines += [f"| {name} | {value:,} | {source} |" for name, (value, source) in ASSUMED.items()]
    lines += ["", "| stage | core-hours | on 64 cores | dollars |", "|---|---|---|---|"]
    for name, value in [*hours.items(), ("all", total)]:
        lines.append(f"| {name} | {value:,.0f} | {_time(value / 64)} | {value * price:,.0f} |")
    lines += ["", "| on disk | gigabytes |", "|---|---|"]
    lines += [f"| {name} | {value:,.0f} |" for name, value in disk.items()]
    return "\n".join(lines)


def _time(hours: float) -> str:
    return f"{hours:.1f} h" if hours >= 1 else f"{60 * hours:.0f} min"
