"""The title as paragraph 0 of a graph: it is linked to itself alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def add_title(graph: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the graph with a row and a column in front for the title."""
    with_title = np.pad(graph, ((1, 0), (1, 0)))
    with_title[0, 0] = 1
    return with_title
