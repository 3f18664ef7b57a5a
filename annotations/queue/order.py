"""The cell of an annotator's next item: a pure function of that annotator's own counts."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LONGEST_RUN = 3  # of one side in a row, while the other side still has items


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as one annotator sees it.

    `weight`: the quota, or the stock of a cell without one; `handed`: how many items this annotator has got; `waiting`:
    how many returned items it has. `phase`, 0 to 1, is drawn from the seed and breaks ties.
    """

    id: int
    pair: str
    side: str
    weight: int
    handed: int = 0
    waiting: int = 0
    phase: float = 0.0

    @property
    def share_handed(self) -> float:
        """What this annotator has been given, as a share of the cell's weight."""
        return (self.handed + self.phase) / self.weight if self.weight else float("inf")


def phase(seed: int, pair: str, side: str) -> float:
    """A number from 0 to 1 that depends only on the seed and the cell's name."""
    digest = hashlib.blake2b(f"{seed}|{pair}|{side}".encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2**48


def next_cell(cells: Iterable[Cell], recent: Sequence[tuple[str, str]]) -> Cell | None:
    """The next cell, or None if no cell is left.

    *cells*: those that may still have an item; *recent*: the (pair, side) of the last items, oldest first. Never more
    than three of one side in a row while the other side is among the cells; not the same pair twice in a row while
    there is another; cells with returned items first; then the lowest share of the quota.
    """
    left = list(cells)
    left = within_longest_run(left, recent) or left
    left = _not_same_pair(left, recent) or left
    return min(left, key=lambda cell: (cell.waiting == 0, cell.share_handed, cell.phase, cell.id), default=None)


def next_stratum(cells: Iterable[Cell], seed: int, turn: int) -> Cell | None:
    """The next cell of a project of generations, or None if no cell is left.

    Cells with returned items first; then at random, with the probability of the cell's share of the remaining items. So
    the order is that of a shuffle of all items and reveals no model or pronoun. The draw depends only on the seed and
    on *turn*, the annotator's own count.
    """
    left = sorted(cells, key=lambda cell: cell.id)
    returned = [cell for cell in left if cell.waiting]
    chosen = returned or left
    weights = [max(1, cell.waiting if returned else cell.weight - cell.handed) for cell in chosen]
    point = phase(seed, str(turn), "turn") * sum(weights)
    for cell, weight in zip(chosen, weights, strict=True):
        point -= weight
        if point < 0:
            return cell
    return chosen[-1] if chosen else None


def within_longest_run(cells: Sequence[Cell], recent: Sequence[tuple[str, str]]) -> list[Cell]:
    """The *cells* whose side would not be the fourth of its kind in a row; perhaps none."""
    run = [side for _, side in recent[-LONGEST_RUN:]]
    if len(run) < LONGEST_RUN or len(set(run)) > 1 or not run[0]:
        return list(cells)
    return [cell for cell in cells if cell.side != run[0]]


def _not_same_pair(cells: Sequence[Cell], recent: Sequence[tuple[str, str]]) -> list[Cell]:
    return [cell for cell in cells if not recent or cell.pair != recent[-1][0]]
