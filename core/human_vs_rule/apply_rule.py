"""The first-pronoun rule on generations, and the four stored labels of one, also merged.

See docs/human_vs_rule.md#labels-of-generations.

See docs/human_vs_rule.md#the-rule.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from evenhand.core.errors import N_
from evenhand.core.text.pronouns import PRONOUN_DATASETS, PronounSet, RuleResult, first_pronoun_result, parse_sets

Scheme = Literal["four", "three", "two"]

CHOICES = ("correct", "misgendering", "no_pronoun", "plural_they")
# scheme -> its categories, each with the stored labels that it takes in
SCHEMES: dict[Scheme, dict[str, tuple[str, ...]]] = {
    "four": {choice: (choice,) for choice in CHOICES},
    "three": {
        "correct": ("correct",),
        "misgendering": ("misgendering",),
        "no_pronoun": ("no_pronoun", "plural_they"),
    },
    # annot_map of the published code: everything except misgendering counts as 1
    "two": {"not_misgendering": ("correct", "no_pronoun", "plural_they"), "misgendering": ("misgendering",)},
}
FLAG = ("flagged", "not_flagged")  # extraneous gendered language

NAMES = {
    "correct": N_("Correct"),
    "misgendering": N_("Misgendering"),
    "no_pronoun": N_("No pronoun"),
    "plural_they": N_("Plural they"),
    "not_misgendering": N_("No misgendering"),
    "flagged": N_("Flagged"),
    "not_flagged": N_("Not flagged"),
}


def merged(choice: str, scheme: Scheme) -> str:
    """Return the category of a stored label under *scheme*. Raises KeyError for any other text."""
    for category, taken in SCHEMES[scheme].items():
        if choice in taken:
            return category
    raise KeyError(choice)


def binary(choice: str) -> int:
    """Return 0 for the label misgendering, 1 for any other, as in the rule's verdict."""
    return int(merged(choice, "two") == "not_misgendering")


if TYPE_CHECKING:  # a third of a second to import; the first page needs none of it
    import pandas as pd

RULE = ("rule_correct", "rule_pronoun", "rule_start", "rule_end")
STRATUM = ("dataset", "model", "pronoun", "setting")


def dataset_of(row: Mapping[str, Any]) -> str:
    """Return the data set whose forms count for a generation: its `dataset`, or "own" if that is not one of ours."""
    named = str(row.get("dataset") or "").lower()
    return named if named in PRONOUN_DATASETS else "own"


def pronouns_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the sets in `pronouns` (else `pronoun`), which is text or a list; () where both are empty.

    Raises BadFile for a name that is not a set.
    """
    named = row.get("pronouns") or row.get("pronoun")
    return _parsed(named) if isinstance(named, tuple) else parse_sets(named)


@cache
def _parsed(named: tuple[str, ...]) -> tuple[str, ...]:
    return parse_sets(named)  # the same few for every generation of a table


def apply_rule(row: Mapping[str, Any], dataset: str | None = None, extra: Sequence[PronounSet] = ()) -> RuleResult:
    """Return the rule's verdict on one generation: its `completion` (else `text`), `pronouns` and `dataset`.

    *dataset* replaces the data set of the row. Forms of *extra* sets count as pronouns too. Raises BadFile for unknown
    pronoun sets, Refused for an unknown *dataset*.
    """
    text = row["completion"] if "completion" in row else row["text"]
    return first_pronoun_result(text, pronouns_of(row), dataset or dataset_of(row), extra)


def with_verdicts(generations: "pd.DataFrame") -> "pd.DataFrame":
    """Return *generations* (columns text, pronouns, dataset) with columns for the rule's verdict.

    `rule_correct`: 1.0, 0.0, or NaN where the person's pronouns are unknown. `rule_pronoun`: the deciding form, None
    where the text has no pronoun that the data set counts. `rule_start`, `rule_end`: its half-open code points.
    """
    import pandas as pd

    verdicts = [apply_rule(row) for row in generations[["text", "pronouns", "dataset"]].to_dict("records")]
    return generations.assign(
        rule_correct=[float("nan") if one.correct is None else float(one.correct) for one in verdicts],
        **{
            name: pd.Series(
                [getattr(one, name.removeprefix("rule_")) for one in verdicts], index=generations.index, dtype=object
            )
            for name in RULE[1:]
        },
    )


def beside_labels(generations: "pd.DataFrame", labels: "pd.DataFrame") -> "pd.DataFrame":
    """Return one row per finished generation with a label: its labels, and their agreement with the rule.

    Every generation counts once, regardless of its number of labels (`labels`). `correct`, `misgendering`,
    `no_pronoun`, `plural_they` are shares of its labels, `extraneous` is the share of its flags (NaN without flags).
    `agreement` is the share of labels that, as 0 or 1 (`binary`), equal the verdict of the rule (NaN where the rule
    has no verdict). `rule_misgendering`, `rule_no_pronoun` are the verdicts of the rule, 0 or 1.
    """
    import pandas as pd

    finished = generations[generations["finished"].astype(bool)]
    said = labels[labels["item"].isin(finished["item"])]
    said = said[["item", "choice", "extraneous"]].merge(finished[["item", "rule_correct"]], on="item")
    values = {choice: (said["choice"] == choice).astype(float) for choice in CHOICES}
    binaries = said["choice"].map(binary).astype(float)
    agree = (binaries == said["rule_correct"]).astype(float).where(said["rule_correct"].notna())
    flags = said["extraneous"].map({True: 1.0, False: 0.0}).astype(float)
    columns = pd.DataFrame({"item": said["item"], **values, "extraneous": flags, "agreement": agree})
    shares = columns.groupby("item", sort=False).mean()
    shares["labels"] = columns.groupby("item", sort=False).size()
    kept = finished.drop(columns=["labels"]).merge(shares, left_on="item", right_index=True)
    nothing = kept["rule_pronoun"].isna().astype(float)
    return kept.assign(rule_misgendering=1.0 - kept["rule_correct"], rule_no_pronoun=nothing)
