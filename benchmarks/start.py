"""How soon a command answers: processor seconds and memory of whole commands, from a cold process.

On a terminal, also the processor seconds until something moves, and until the first sentence shows.
The best of a few rounds counts: a busy machine can only add to it.

    python benchmarks/start.py
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 3
ROOT = Path(__file__).parents[1]
EXAMPLE = "examples/harbour-bridge"
COMMANDS = {
    "--version": ["--version"],
    "--help": ["--help"],
    "wrong path": ["summarize", "no-such-file.txt"],
    "wrong setting": ["summarize", EXAMPLE, "--set", "data.langage=en"],
    "lexrank": ["summarize", EXAMPLE, "--system", "lexrank"],
    "the model": ["summarize", EXAMPLE],
}
PROGRAM = [sys.executable, "-m", "hiersum"]
ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


def run(arguments: list[str]) -> tuple[float, float, float]:
    """Return processor seconds, seconds by the clock and peak megabytes of a command."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [*PROGRAM, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1024


def processor_seconds(pid: int) -> float:
    """Return what a running process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def on_terminal(first_words: str) -> dict[str, float]:
    """Return when something moves and when the first sentence shows, on a terminal."""
    start = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.environ["TERM"] = "xterm"
        os.execv(sys.executable, [*PROGRAM, "summarize", EXAMPLE])
    seen = b""
    found: dict[str, float] = {}
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # the program has closed its terminal
            break
        if not chunk:
            break
        seen += ESCAPES.sub(b"", chunk)
        if "moves" not in found:
            found["moves"] = processor_seconds(pid)
            found["moves_clock"] = time.perf_counter() - start
        if "first_sentence" not in found and first_words.encode() in seen:
            found["first_sentence"] = processor_seconds(pid)
            found["first_sentence_clock"] = time.perf_counter() - start
    os.waitpid(pid, 0)
    return found


def main() -> None:
    rounds: dict[str, list[tuple[float, float, float]]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, arguments in COMMANDS.items():
            rounds[name].append(run(arguments))
    written = subprocess.run(
        [*PROGRAM, "summarize", EXAMPLE], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    first_words = " ".join(written.split()[:3])
    terminal = [on_terminal(first_words) for _ in range(ROUNDS)]
    from measure import write_results  # late: a command's peak counts what its parent had loaded

    write_results(
        "start",
        {
            "rounds": ROUNDS,
            "load": [round(x, 1) for x in os.getloadavg()],
            "commands": {
                name: {
                    "processor_seconds": round(min(cpu for cpu, _, _ in taken), 2),
                    "clock_seconds": round(min(clock for _, clock, _ in taken), 2),
                    "peak_mb": round(min(mb for _, _, mb in taken)),
                }
                for name, taken in rounds.items()
            },
            "terminal": {
                name: round(min(found[name] for found in terminal), 2) for name in terminal[0]
            },
        },
    )


if __name__ == "__main__":
    main()
