"""Names of choices in another labelling program -> codes here: guessed by name, or mapped by a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from evenhand.annotations.files.columns import bare_name
from evenhand.annotations.types import Choice, Guideline
from evenhand.core.errors import N_, BadLine

NOBODY = "annotator"
Meaning = Literal["choice", "reason", "nothing", "unknown"]

# Lower case, letters and digits only. For projects of sentences; the choices of generations have their own names.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "accept": (
        *("accept", "accepted", "keep", "kept", "yes", "y", "ok", "okay", "good", "valid", "positive", "pass", "true"),
        *(
            "use",
            "usable",
            "suitable",
            "保留",
            "接受",
            "采纳",
            "采用",
            "是",
            "通过",
            "可用",
            "合格",
            "有效",
            "适合",
            "好",
        ),
    ),
    "reject": (
        *("reject", "rejected", "drop", "dropped", "discard", "no", "n", "bad", "invalid", "negative", "fail", "false"),
        *("remove", "unusable", "unsuitable", "拒绝", "不接受", "删除", "剔除", "舍弃", "丢弃", "否", "不通过"),
        *("不可用", "不合格", "无效", "不适合", "不保留", "差"),
    ),
}


@dataclass(frozen=True, slots=True)
class Names:
    """A mapping of the names in a file.

    `choices`: name -> code of a choice or reason, "" to ignore the name; a missing name is guessed. `people`: name of
    an annotator in the file -> name here; the key "" is for annotations without an annotator.
    """

    choices: Mapping[str, str] = field(default_factory=dict)
    people: Mapping[str, str] = field(default_factory=dict)


def guess_choice(name: str, guideline: Guideline) -> str | None:
    """The code of the choice or reason of *guideline* that *name* means, or None.

    Codes and labels of the guideline first (choices before reasons), then words for accept and reject.
    """
    wanted = bare_name(name)
    for options in (guideline.choices, guideline.beside):
        for option in options:
            if name == option.code or (wanted and wanted in map(bare_name, (option.code, option.zh, option.en))):
                return option.code
    codes = {option.code for option in guideline.choices}
    return next((code for code, words in SYNONYMS.items() if code in codes and wanted in words), None)


def meaning_of_name(name: str, guideline: Guideline, names: Names) -> tuple[Meaning, str]:
    """What *name* means: ("choice" or "reason", its code), ("nothing", "") to ignore it, or ("unknown", "")."""
    code = names.choices.get(name)
    if code is None:
        code = guess_choice(name, guideline)
    if code is None:
        return "unknown", ""
    if not code:
        return "nothing", ""
    if _has(guideline.choices, code):
        return "choice", code
    return ("reason", code) if _has(guideline.beside, code) else ("unknown", "")


def choice_and_reasons(
    given: Sequence[str], guideline: Guideline, names: Names, line: int
) -> tuple[str, tuple[str, ...]]:
    """Return the choice and the reasons that the names *given* mean.

    Raises BadLine for an unknown name, or unless there is exactly one choice.
    """
    known = [(name, *meaning_of_name(name, guideline, names)) for name in given]
    unknown = [name for name, kind, _ in known if kind == "unknown"]
    if unknown:
        message = N_(
            "The meaning of {choice} in this project is unknown: specify it (on the command line: --map {example})."
        )
        example = f"{unknown[0][:40]}={guideline.choices[0].code}"
        raise BadLine("", line, "unknown_choice", message, choice=", ".join(unknown)[:80], example=example)
    choices = list(dict.fromkeys(code for _, kind, code in known if kind == "choice"))
    if len(choices) != 1:
        message = N_("An annotation needs exactly one choice; this one has {count} ({found}).")
        raise BadLine("", line, "label", message, count=len(choices), found=", ".join(choices) or "—")
    return choices[0], tuple(dict.fromkeys(code for _, kind, code in known if kind == "reason"))


def annotator_name(who: str, names: Names) -> str:
    """The name here of an annotator of a file; a number alone becomes "user 3"."""
    if who in names.people:
        return names.people[who].strip() or NOBODY
    return NOBODY if not who else f"user {who}" if who.isdecimal() else who


def _has(options: tuple[Choice, ...], code: str) -> bool:
    return any(option.code == code for option in options)
