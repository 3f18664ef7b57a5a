"""A guideline as the desk shows it, differences between two, choices and criteria in words."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from evenhand.annotations.desk import frontend
from evenhand.annotations.types import Choice, Guideline
from evenhand.core.guidelines import changed_lines, in_language
from evenhand.pages.ui.language import language
from evenhand.pages.ui.tables import element, joined, span

AROUND = 2  # lines without a change that are shown beside one


def names_of(versions: Iterable[Guideline], extra: Sequence[Choice] = ()) -> dict[str, str]:
    """Codes of choices and criteria as the visitor reads them; the newest wording counts."""
    options = [one for each in versions for one in each.options]
    return {one.code: option_name(one) for one in (*options, *extra)}


def option_name(option: Choice) -> str:
    """A choice or criterion in the visitor's language, its other name or its code where it has none."""
    first, second = (option.zh, option.en) if language() == "zh" else (option.en, option.zh)
    return first or second or option.code


def desk_html(markdown: str) -> Markup:
    """A guideline as annotators see it beside the sentence; nothing in it is read as HTML."""
    made = []
    for block in frontend.blocks(in_language(markdown, language())):
        if block["kind"] == "list":
            start = str(int(block["start"])) if block["ordered"] else ""
            points = joined(element("li", _runs(runs)) for runs in block["items"])
            made.append(element("ol" if block["ordered"] else "ul", points, start=start))
        else:
            made.append(element("h4" if block["kind"] == "head" else "p", _runs(block["runs"])))
    return element("div", joined(made), "asdesk")


def _runs(runs: Iterable[tuple[str, bool]]) -> Markup:
    return joined(element("strong", text) if strong else text for text, strong in runs)


def difference_html(old: str, new: str) -> Markup:
    """Two texts line by line: removed lines are struck through and marked −, added ones underlined and marked +."""
    looks = {"-": ("−", "removed"), "+": ("+", "added")}
    rows = []
    lines = list(changed_lines(old.splitlines(), new.splitlines()))
    near = {place + step for place, line in enumerate(lines) if line[0] != " " for step in range(-AROUND, AROUND + 1)}
    for place, line in enumerate(lines):
        if place not in near:  # far from any change
            if place == 0 or place - 1 in near:
                rows.append(element("div", "…", "soft"))
            continue
        sign, look = looks.get(line[0], ("", ""))
        rows.append(element("div", joined([element("b", sign), span(line[1:], "verbatim")]), f"line {look}".strip()))
    return element("div", joined(rows), "difference")
