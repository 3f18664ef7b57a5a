"""What the paper prints about its five Japanese models (Tables 3 and 4), and what follows from it (SPEC 3.2)."""

from dataclasses import dataclass

from core.resources import table


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """One model of the paper, in its order.

    `printed` is s of Table 4, `from_shares` s worked out from the shares of Table 3; `directional`, `order`, `fn`
    and `one_minus_fn` are worked out from Table 3 and are not in the paper. The rank is the paper's own.
    """

    model: str
    printed: float
    from_shares: float
    rank: int
    directional: float
    order: bool
    fn: float
    one_minus_fn: float


def published() -> tuple[PublishedModel, ...]:
    """The five models, in the order of the paper."""
    more = {row["model"]: row for row in table("nli_published")}
    return tuple(
        PublishedModel(
            row["model"],
            float(row["printed"]),
            float(row["shares_sum"]) / 3,
            int(row["rank"]),
            float(more[row["model"]]["directional"]),
            more[row["model"]]["order"] == "true",
            float(more[row["model"]]["fn"]),
            1 - float(more[row["model"]]["fn"]),
        )
        for row in table("published_inference")
    )
