"""The title in a graph."""

from __future__ import annotations

import numpy as np

from hiersum.graphs.title import add_title


def test_the_title_is_linked_to_itself_alone() -> None:
    graph = np.array([[1.0, 0.4], [0.4, 1.0]])

    assert add_title(graph).tolist() == [[1, 0, 0], [0, 1, 0.4], [0, 0.4, 1]]
