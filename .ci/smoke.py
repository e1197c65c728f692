"""Try an installed wheel: `python smoke.py DIST`, in a folder that has `examples/` and nothing else.

Only the standard library and what `pip install hiersum` brings are used.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory


def main(dist: Path) -> None:
    import hiersum

    place = Path(hiersum.__file__).resolve()
    assert place.is_relative_to(Path(sys.prefix).resolve()), f"not the wheel: {place}"
    [wheel], [sdist] = dist.glob("*.whl"), dist.glob("*.tar.gz")
    for file in (wheel, sdist):
        assert hiersum.__version__ in file.name, f"{file.name} is not {hiersum.__version__}"
    assert hiersum.__version__ in run("--version")
    assert "summarize" in run("--help")

    with TemporaryDirectory() as folder:
        report = Path(folder, "report.html")
        line = ["summarize", "examples/harbour-bridge", "--json", "--report", str(report)]
        result = json.loads(run(*line))
        assert result["system"] == "ht", "the bundled model is missing"
        assert all(sentence["sources"] for sentence in result["sentences"])
        assert report.stat().st_size > 10_000

    summary = hiersum.Summarizer.from_pretrained().summarize(
        [Path("examples/car-free-centre")], title="Car-free centre", system="lexrank"
    )
    assert summary.sentences
    for command, extra in (
        (["serve"], "serve"),
        (["plot", "examples"], "train"),
        (["build", "articles", "examples/articles.jsonl", "--out", "built"], "parquet"),
        (["summarize", "examples/harbour-bridge", "--model", "owner/name"], "hub"),
    ):
        assert f"pip install 'hiersum[{extra}]'" in run(*command, code=2), command
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.0f} MB, works")  # noqa: T201


def run(*arguments: str, code: int = 0) -> str:
    """Run the installed command; return what it printed."""
    program = Path(sys.executable).with_name("hiersum")
    completed = subprocess.run([program, *arguments], capture_output=True, text=True)
    assert completed.returncode == code, f"hiersum {' '.join(arguments)}: {completed.stderr}"
    return completed.stderr if code else completed.stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]))
