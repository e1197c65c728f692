"""The paper's tables, in its form, from the record of an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hiersum.evaluation.comparison import Table, p_value
from hiersum.evaluation.rouge import CUTS, TABLE_1
from hiersum.reproduction.duration import spoken
from hiersum.reproduction.paper_numbers import METRICS, TABLE_3
from hiersum.reproduction.systems import ABLATIONS, LONGER

Record = Mapping[str, Any]
UNDERTRAINED = " \N{DOUBLE DAGGER}"
_NONE = "-"


def ranking_table(record: Record) -> Table | None:
    """Table 1: ROUGE-L recall of the first paragraphs, by similarity and by the ranker."""
    ranking = record["ranking"]
    if not ranking or not ranking["cuts"]:
        return None
    cuts = {cut["paragraphs"]: cut for cut in ranking["cuts"]}
    rows = [
        (
            name,
            *(_mean(cuts[cut][key]) for cut in CUTS),
            *(f"{TABLE_1[cut][i]:.2f}" for cut in CUTS),
        )
        for i, (name, key) in enumerate((("Similarity", "similarity"), ("Ranking", "ranker")))
    ]
    counts = ("clusters", *(f"{cuts[cut]['clusters']:,}" for cut in CUTS), *[""] * len(CUTS))
    header = (
        *("Methods", *(f"L'={cut}" for cut in CUTS)),
        *(f"paper* L'={cut}" for cut in CUTS),
    )
    return Table(header, (*rows, counts))


def main_table(record: Record) -> Table:
    """Table 2: every system."""
    return _score_table(r for r in record["rows"] if r["row"] not in TABLE_3 or r["row"] == "ht")


def ablation_table(record: Record) -> Table | None:
    """Table 3: HT and what is left of it without its parts."""
    rows = {r["row"]: r for r in record["rows"] if r["row"] in ABLATIONS}
    chosen = [rows[name] for name in ABLATIONS if name in rows]
    if all(row["row"] == "ht" for row in chosen):
        return None
    return _score_table({**row, "label": "HT"} if row["row"] == "ht" else row for row in chosen)


def longer_table(record: Record) -> Table | None:
    """The paper's footnote: which networks gain from longer input at test time."""
    rows = [row for row in record["rows"] if row["against_shorter"]]
    if not rows:
        return None
    cells = [
        (
            row["label"].replace(" (train on", ": train on").rstrip(")"),
            *(_gain(row["against_shorter"][metric]) for metric in METRICS),
            _p_values(row["against_shorter"]),
        )
        for row in rows
    ]
    return Table(("Gain from longer input", *_METRIC_NAMES, "p"), tuple(cells))


def training_table(record: Record) -> Table | None:
    """What each network learned from, and whether that was enough."""
    rows = [r for r in record["rows"] if r["training"] and not r["row"].endswith(LONGER)]
    if not rows:
        return None
    header = (
        *("Network", "weights", "updates", "million tokens", "of the paper's", "epochs"),
        *("validation loss", "fell at last", "time", "undertrained"),
    )
    return Table(header, tuple(_training_row(row) for row in rows))


def measure_table(record: Record) -> Table:
    """Lengths and repetition."""
    rows = [
        (row["label"], f"{row['words']:.1f}", f"{100 * row['repetition']:.1f} %")
        for row in record["rows"]
    ]
    return Table(("Model", "words", "repeated trigrams"), tuple(rows))


_METRIC_NAMES = ("ROUGE-1", "ROUGE-2", "ROUGE-L")


def _score_table(rows: Iterable[Record]) -> Table:
    header = ("Model", *_METRIC_NAMES, "p against HT", "validation loss", "paper* R-1 / R-2 / R-L")
    return Table(
        header,
        tuple(
            (
                row["label"] + _mark(row),
                *(_with_interval(row["rouge"][metric]) for metric in METRICS),
                _p_values(row["against_ht"]),
                _NONE if row["row"].endswith(LONGER) else _loss(row["training"]),
                _paper(row["paper"]),
            )
            for row in rows
        ),
    )


def _training_row(row: Record) -> tuple[str, ...]:
    training = row["training"]
    if training["given"]:
        given = ("given", *[_NONE] * 3, _loss(training), _NONE, _NONE, "not known")
        return (row["label"], f"{training['parameters']:,}", *given)
    fall = training["late_fall"]
    return (
        row["label"] + _mark(row),
        f"{training['parameters']:,}",
        f"{training['updates']:,}",
        f"{training['million_tokens']:,.3g}",
        f"{100 * training['share_of_paper']:.2g} %",
        f"{training['epochs']:.2f}",
        _loss(training),
        _NONE if fall is None else f"{100 * fall:.1f} %",
        spoken(training["seconds"]),
        "yes" if training["undertrained"] else "no",
    )


def _mark(row: Record) -> str:
    return UNDERTRAINED if row["training"] and row["training"]["undertrained"] else ""


def _mean(values: Record | None) -> str:
    return _NONE if values is None else _with_interval(values)


def _with_interval(values: Record) -> str:
    return f"{values['mean']:.2f} ({values['low']:.2f} to {values['high']:.2f})"


def _gain(values: Record) -> str:
    return f"{values['mean']:+.2f} ({values['low']:+.2f} to {values['high']:+.2f})"


def _p_values(difference: Record | None) -> str:
    if difference is None:
        return _NONE
    return " / ".join(p_value(difference[metric]["p_randomisation"]) for metric in METRICS)


def _loss(training: Record | None) -> str:
    return _NONE if training is None else f"{training['validation_loss']:.3f}"


def _paper(numbers: Record | None) -> str:
    if numbers is None:
        return _NONE
    return " / ".join(f"{numbers[metric]:.2f}" for metric in METRICS)
