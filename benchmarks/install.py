"""What `pip install hiersum` and each of its extras bring: packages and megabytes on disk.

Counts what is installed in this environment, so run it where all extras are (`make install-dev`).
"""

from __future__ import annotations

from importlib.metadata import distribution

from measure import write_results
from packaging.requirements import Requirement
from side_by_side import megabytes_of

EXTRAS = ("serve", "train", "parquet", "hub", "build", "discourse", "cluster", "docs", "dev")
MOVED = ("hub", "parquet")
"""Extras whose packages every install once brought."""


def needed(extras: tuple[str, ...]) -> set[str]:
    """Return all packages that hiersum with these extras requires, itself among them."""
    found: dict[str, set[str]] = {}
    waiting = [("hiersum", set(extras))]
    while waiting:
        name, wanted = waiting.pop()
        name = name.lower().replace("_", "-")
        if name in found and wanted <= found[name]:
            continue
        found[name] = found.get(name, set()) | wanted
        for line in distribution(name).requires or ():
            requirement = Requirement(line)
            marker = requirement.marker
            if marker is None or any(marker.evaluate({"extra": e}) for e in ("", *found[name])):
                waiting.append((requirement.name, set(requirement.extras)))
    return set(found)


def main() -> None:
    alone = needed(())
    sizes = {name: megabytes_of(name) for name in needed(EXTRAS)}

    def cost(names: set[str]) -> dict[str, int]:
        return {"packages": len(names), "megabytes": round(sum(sizes[name] for name in names))}

    write_results(
        "install",
        {
            "alone": cost(alone),
            "largest": {n: round(sizes[n]) for n in sorted(alone, key=lambda n: -sizes[n])[:6]},
            "once": cost(needed(MOVED)),
            "more": {extra: cost(needed((extra,)) - alone) for extra in EXTRAS},
        },
    )


if __name__ == "__main__":
    main()
