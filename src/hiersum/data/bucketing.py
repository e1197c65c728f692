"""Which examples share a batch: those of like shape, as many as a padded batch has room for.

A batch of n examples, padded, is n * (most paragraphs * longest paragraph + longest target) tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hiersum.types import Example

Ints = NDArray[np.int64]


def padded_size(shapes: Ints) -> int:
    """Return the tokens of a padded batch.

    Args:
        shapes: paragraphs, tokens of the longest paragraph and tokens of the target, per example.
    """
    paragraphs, tokens, targets = shapes.max(axis=0).tolist()
    return int(len(shapes) * (paragraphs * tokens + targets))


def bucket(shapes: Ints, batch_tokens: int) -> list[Ints]:
    """Put examples of like shape together, in batches of at most `batch_tokens` padded tokens.

    An example that is larger than that by itself is a batch of its own.

    Args:
        shapes: as for `padded_size`.
        batch_tokens: a bound on the padded size of a batch.

    Returns:
        The indices of each batch; every example is in one of them. Of equal shapes, those that come
        first stay first.
    """
    paragraphs, tokens, targets = shapes.T
    # Up and down in turn: what ends one number of paragraphs is like what begins the next.
    turned = np.where(paragraphs % 2, tokens, -tokens)
    return cut(shapes, np.lexsort((targets, turned, paragraphs)), batch_tokens)


def bucket_examples(examples: Sequence[Example], batch_tokens: int) -> list[list[int]]:
    """Return the indices of the examples of each batch; see `bucket`."""
    if not examples:
        return []
    shapes = [
        (len(e.paragraph_ids), max(map(len, e.paragraph_ids)), len(e.target_ids or ()))
        for e in examples
    ]
    return [indices.tolist() for indices in bucket(np.array(shapes), batch_tokens)]


def cut(shapes: Ints, order: Ints, batch_tokens: int) -> list[Ints]:
    """Cut examples, in the given order, into batches as long as `batch_tokens` allows."""
    ordered = shapes[order]
    batches = []
    start = 0
    while start < len(order):
        paragraphs, tokens, targets = ordered[start].tolist()
        most = max(1, batch_tokens // max(1, paragraphs * tokens + targets))
        # What a batch would be padded to, were it to end with this example or the next or ...
        padded = np.maximum.accumulate(ordered[start : start + most])
        sizes = np.arange(1, len(padded) + 1) * (padded[:, 0] * padded[:, 1] + padded[:, 2])
        end = start + max(1, int(np.searchsorted(sizes, batch_tokens, side="right")))
        batches.append(order[start:end])
        start = end
    return batches
