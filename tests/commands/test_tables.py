"""Tables for the terminal: aligned columns, estimates with their intervals and reasons."""

from evenhand.commands.shared import table
from evenhand.core.statistics.estimate import Estimate, Note


def test_estimates_have_intervals_and_notes_after_the_row() -> None:
    rows = [
        ("pairwise", Estimate(0.5123, 0.4, 0.6), "n = 10"),
        ("他们", Estimate(-0.5, -0.6, -0.4, note=Note("Few units.")), "n = 3"),
        ("kappa", Estimate.undefined(Note("No labels."))),
        ("share", (Estimate(0.5, 0.4, 0.6), ".1%"), 12345),
    ]
    assert table(rows, indent="  ").splitlines() == [
        "  pairwise   0.512  [0.400, 0.600]    n = 10",
        "  他们      -0.500  [-0.600, -0.400]  n = 3   (Few units.)",
        "  kappa          —                            (No labels.)",
        "  share      50.0%  [40.0%, 60.0%]    12,345",
    ]


def test_columns_are_aligned_and_undefined_is_a_dash() -> None:
    rows = [("Ada", 1, None), ("周敏敏", 12345, 0.5)]
    assert table(rows, ["name", "labels", "right"], form=".1f").splitlines() == [
        "name    labels  right",
        "Ada          1      —",
        "周敏敏  12,345    0.5",
    ]
    assert table([]) == ""
