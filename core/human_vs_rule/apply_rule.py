"""The rule of SPEC 4.3 on every generation, each with the forms of its own data set."""

from typing import Any

import pandas as pd

from core.human_vs_rule.schemes import CHOICES, binary
from core.text.pronouns import Verdict, verdict

RULE = ("rule_correct", "rule_pronoun", "rule_start", "rule_end")
STRATUM = ("dataset", "model", "pronoun", "setting")


def ruled(generations: pd.DataFrame) -> pd.DataFrame:
    """*generations* (columns text, pronouns, dataset) with the rule's verdict beside them.

    `rule_correct`: 1.0, 0.0 or NaN where nobody knows the person's pronouns; `rule_pronoun`: the deciding form, None
    where the text has no pronoun that the data set counts; `rule_start`, `rule_end`: its half-open code points.
    """
    found = [
        verdict(text, own, dataset)
        for text, own, dataset in zip(generations["text"], generations["pronouns"], generations["dataset"], strict=True)
    ]
    return generations.assign(
        rule_correct=[float("nan") if one.correct is None else float(one.correct) for one in found],
        **{
            name: pd.Series([_of(one, name) for one in found], index=generations.index, dtype=object)
            for name in RULE[1:]
        },
    )


def _of(one: Verdict, name: str) -> Any:
    return getattr(one, name.removeprefix("rule_"))


def compared(ruled_generations: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """One row per finished generation with a label: what people said of it on average, and whether the rule agrees.

    Every generation counts once, however many labels it has: `correct`, `misgendering`, `no_pronoun`, `plural_they`
    are the shares of its labels, `extraneous` that of its flags (NaN: nobody said), `agreement` the share of labels
    that say, as 0 or 1 (`binary`), what the rule says (NaN where the rule has no verdict), `labels` their number.
    `rule_misgendering`, `rule_no_pronoun`: the rule's own, 0 or 1.
    """
    finished = ruled_generations[ruled_generations["finished"].astype(bool)]
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
