"""The order of cells: gaps first, sides and pairs mixed, a function of its arguments alone."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from evenhand.annotations.queue.handout import LONGEST_RUN, Cell, next_cell, phase

PAIRS = ("他/她", "男孩/女孩", "爸爸/妈妈", "姥爷/姥姥")


def cell(pair: str, side: str, weight: int, handed: int = 0, waiting: int = 0, seed: int = 0) -> Cell:
    number = PAIRS.index(pair) * 2 + (side == "female")
    return Cell(number, pair, side, weight, handed, waiting, phase(seed, pair, side))


def draw(stock: dict[Cell, int], number: int) -> list[Cell]:
    """Hand out *number* items of the cells, which have this many each; return the drawn cells in order."""
    cells = {entry.id: entry for entry in stock}
    left = {cell_.id: items for cell_, items in stock.items()}
    drawn: list[Cell] = []
    while len(drawn) < number:
        recent = [(entry.pair, entry.side) for entry in drawn]
        result = next_cell([cell for cell in cells.values() if left[cell.id]], recent)
        if result is None:
            break
        drawn.append(result)
        left[result.id] -= 1
        cells[result.id] = replace(result, handed=result.handed + 1)
    return drawn


stocks = st.lists(
    st.tuples(st.sampled_from(PAIRS), st.sampled_from(("male", "female")), st.integers(1, 50), st.integers(0, 30)),
    min_size=1,
    unique_by=lambda row: row[:2],
)


@given(stocks, st.integers(0, 5))
def test_no_four_items_of_a_side_in_a_row_while_the_other_has_items(
    rows: list[tuple[str, str, int, int]], seed: int
) -> None:
    stock = {cell(pair, side, weight, seed=seed): items for pair, side, weight, items in rows}
    left = Counter({side: sum(n for cell_, n in stock.items() if cell_.side == side) for side in ("male", "female")})
    sides: list[str] = []
    for cell_ in draw(stock, 60):
        run = sides[-LONGEST_RUN:]
        if len(run) == LONGEST_RUN and set(run) == {cell_.side}:
            other = "male" if cell_.side == "female" else "female"
            assert left[other] == 0
        left[cell_.side] -= 1
        sides.append(cell_.side)


@given(stocks, st.integers(0, 5))
def test_every_item_is_handed_out_once(rows: list[tuple[str, str, int, int]], seed: int) -> None:
    stock = {cell(pair, side, weight, seed=seed): items for pair, side, weight, items in rows}
    drawn = Counter(cell_.id for cell_ in draw(stock, 10_000))
    assert drawn == Counter({cell_.id: items for cell_, items in stock.items() if items})


@given(stocks, st.integers(0, 5), st.randoms(use_true_random=False))
def test_order_of_the_cells_does_not_matter(rows: list[tuple[str, str, int, int]], seed: int, random: object) -> None:
    cells = [cell(pair, side, weight, items, seed=seed) for pair, side, weight, items in rows]
    shuffled = list(cells)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert next_cell(cells, []) == next_cell(shuffled, [])


def test_the_cell_with_the_largest_gap_comes_first() -> None:
    behind, ahead = cell("他/她", "male", 10, handed=1), cell("男孩/女孩", "female", 10, handed=9)
    assert next_cell([ahead, behind], []) == behind


def test_the_gap_is_a_share_of_the_quota() -> None:
    small, large = cell("男孩/女孩", "male", 10, handed=5), cell("他/她", "male", 1_000, handed=100)
    assert next_cell([small, large], []) == large


def test_cells_fill_in_proportion_to_their_quotas() -> None:
    quotas = {
        ("他/她", "male"): 300,
        ("他/她", "female"): 300,
        ("男孩/女孩", "male"): 100,
        ("男孩/女孩", "female"): 100,
    }
    stock = {cell(pair, side, quota): 10_000 for (pair, side), quota in quotas.items()}
    drawn = Counter((cell_.pair, cell_.side) for cell_ in draw(stock, 80))
    # the same pair is not drawn twice in a row, so 他/她 gets half of the draws instead of three quarters
    assert drawn["他/她", "male"] == drawn["他/她", "female"] == 20
    three = {cell(pair, side, 100): 10_000 for pair in PAIRS[:3] for side in ("male", "female")}
    assert set(Counter((cell_.pair, cell_.side) for cell_ in draw(three, 60)).values()) == {10}


def test_cells_with_returned_items_come_first() -> None:
    waiting, behind = cell("他/她", "male", 10, handed=9, waiting=1), cell("男孩/女孩", "female", 10)
    assert next_cell([behind, waiting], []) == waiting


def test_a_pair_is_repeated_only_without_alternatives() -> None:
    same, other = cell("他/她", "male", 100), cell("男孩/女孩", "male", 100, handed=99)
    assert next_cell([same, other], [("他/她", "female")]) == other
    assert next_cell([same], [("他/她", "female")]) == same


def test_the_side_rule_outweighs_the_pair_rule() -> None:
    run = [("男孩/女孩", "male"), ("爸爸/妈妈", "male"), ("他/她", "male")]
    other_side, other_pair = cell("他/她", "female", 10, handed=9), cell("男孩/女孩", "male", 10)
    assert next_cell([other_pair, other_side], run) == other_side


def test_items_without_a_side_are_not_limited_by_the_side_rule() -> None:
    plain = Cell(1, "", "", 10)
    assert next_cell([plain], [("", "")] * 3) == plain


def test_without_cells_there_is_no_next_cell() -> None:
    assert next_cell([], [("他/她", "male")]) is None


def test_the_seed_breaks_ties() -> None:
    first = {seed: next_cell([cell(pair, "male", 10, seed=seed) for pair in PAIRS], []) for seed in range(20)}
    assert len({entry.pair for entry in first.values() if entry}) > 1
