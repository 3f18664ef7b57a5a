"""Blind labels as columns of numbers: who said what of which item, for measures that count."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.statistics import Tally

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BlindLabels:
    """One entry per label, sorted by item and annotator; `context`: number of the item's context, where known."""

    item: Numbers
    annotator: Numbers
    choice: Numbers
    cell: Numbers
    context: Numbers | None = None

    def tally(self, categories: int, keep: NDArray[np.bool_] | None = None) -> Tally:
        """How many annotators chose each category, item by item; of the labels in *keep*."""
        item, choice = (self.item, self.choice) if keep is None else (self.item[keep], self.choice[keep])
        rows, first, where = np.unique(item, return_index=True, return_inverse=True)
        flat = np.bincount(where * categories + choice, minlength=len(rows) * categories)
        of_rows = None
        if self.context is not None:
            of_rows = (self.context if keep is None else self.context[keep])[first]
        return Tally.of(flat.reshape(len(rows), categories), of_rows)

    def only(self, keep: NDArray[np.bool_]) -> "BlindLabels":
        """Some of the labels."""
        context = None if self.context is None else self.context[keep]
        return BlindLabels(self.item[keep], self.annotator[keep], self.choice[keep], self.cell[keep], context)

    def recoded(self, codes: Sequence[int]) -> "BlindLabels":
        """The same labels with choice i become codes[i]."""
        choice = np.asarray(codes, dtype=np.int64)[self.choice] if len(self.choice) else self.choice
        return BlindLabels(self.item, self.annotator, choice, self.cell, self.context)

    def tables(self, categories: int) -> dict[tuple[int, int], tuple[Numbers, Numbers | None]]:
        """(smaller id, larger id) -> table of what both chose, and the same per context (contexts x cells).

        Labels are sorted by item and annotator, so the pairs of an item are the
        labels 1, 2, 3 ... places apart, as long as the item is the same.
        """
        ids, who = np.unique(self.annotator, return_inverse=True)
        cells, contexts = categories**2, 0 if self.context is None else int(self.context.max(initial=-1)) + 1
        found: dict[tuple[int, int], Numbers] = {}
        for apart in range(1, len(self.item)):
            same = np.flatnonzero(self.item[apart:] == self.item[:-apart])
            if not len(same):
                break
            chosen = self.choice[same] * categories + self.choice[same + apart]
            if self.context is not None:
                chosen = self.context[same] * cells + chosen
            size = max(1, contexts) * cells
            both = (who[same] * len(ids) + who[same + apart]) * size + chosen
            for key, count in zip(*map(np.ndarray.tolist, np.unique(both, return_counts=True)), strict=True):
                two, cell = divmod(key, size)
                pair = int(ids[two // len(ids)]), int(ids[two % len(ids)])
                found.setdefault(pair, np.zeros(size, dtype=np.int64))[cell] += count
        shape = (categories, categories)
        if self.context is None:
            return {pair: (flat.reshape(shape), None) for pair, flat in found.items()}
        spread = {pair: flat.reshape(contexts, cells) for pair, flat in found.items()}
        return {pair: (by.sum(axis=0).reshape(shape), by) for pair, by in spread.items()}


def columns(rows: Sequence[tuple[int, int, str, int]], codes: Sequence[str]) -> BlindLabels:
    """From rows of item, annotator, choice and cell; a choice becomes its place in *codes*."""
    number = {code: i for i, code in enumerate(codes)}
    table = np.array([(item, who, number[choice], cell) for item, who, choice, cell in rows], dtype=np.int64)
    table = table.reshape(-1, 4)
    return BlindLabels(table[:, 0], table[:, 1], table[:, 2], table[:, 3])
