"""Keep the reports of what `hiersum build` wrote: python benchmarks/built_clusters.py FOLDER ..."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from measure import write_results

folders = [Path(folder) for folder in sys.argv[1:]]
sys.argv[1:] = [folder.name for folder in folders]  # where they lie is nobody's business
write_results(
    "built_clusters",
    {folder.name: json.loads((folder / "report.json").read_text()) for folder in folders},
)
