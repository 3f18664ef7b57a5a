"""Papers from templates: Markdown with Jinja, one file per language.

A template is a function of its facts: a missing fact is an error. Values are escaped, so that no name or note becomes
markup. The result is parsed into blocks, which are written as Markdown or LaTeX.

Each sentence of a template is inside the claim that it makes, and needs evidence. A template writes
`{% call(one) claim("order") %}...{% endcall %}`. The text is rendered once for each piece of evidence that the claim
finds in the facts, and not at all without evidence. A number of the catalogue (annotations.quantities) is written by
its id, `{{ number("items.reviewed") }}`; the text of a claim with a number that the facts do not state is not rendered.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import repeat
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from evenhand.annotations.papers.blocks import (
    DASH,
    Answered,
    Block,
    Heading,
    Points,
    Say,
    Table,
    Text,
    Verbatim,
    cell,
    markdown_text,
)
from evenhand.annotations.papers.numbers import (
    Unstated,
    estimate,
    how_made,
    named,
    number,
    reason,
    short_estimate,
    some,
    stated,
)
from evenhand.annotations.quantities.catalogue import ENTRIES
from evenhand.core.language import Language
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.many_raters import FEWEST_HOLDING
from evenhand.core.statistics.posterior import FEWEST, FEWEST_BY_T, FEWEST_ITEMS

# The least numbers that an interval of agreement needs (docs/methods.md#intervals-of-agreement).
FEWEST_OF = {"items": FEWEST_ITEMS, "rare": FEWEST, "units": FEWEST_BY_T, "holding": FEWEST_HOLDING}
Facts = Mapping[str, Any]
Evidence = Callable[[Facts], Sequence[Any]]


def render_claims(facts: Facts) -> Callable[..., Markup]:
    """Return the function `claim` of a template with these facts.

    Raises KeyError for a claim that has no evidence rule.
    """

    def claim(name: str, caller: Callable[[Any], str]) -> Markup:
        return Markup("").join(map(text, CLAIMS[name](facts), repeat(caller)))

    def text(value: Any, caller: Callable[[Any], str]) -> Markup:
        try:
            return Markup(caller(value))  # noqa: S704 - escaped by Jinja
        except Unstated:
            return Markup("")

    return claim


def _if(holds: object, proof: Any = True) -> list[Any]:
    """Return *proof* as the only evidence if *holds*, else none."""
    return [proof] if holds else []


def _quantities(facts: Facts) -> list[Any]:
    """Return all estimates by id; the text that names one without an estimate is not rendered."""
    return [facts["quantities"]]


def _of_all(origin: str) -> Evidence:
    """Return evidence that counts the labels of an origin, `of` all labels in force; none without such labels."""

    def shares(facts: Facts) -> list[Any]:
        all_labels, some = facts["provenance"]["labels"], facts["provenance"][origin]
        return _if(some["labels"], {"of": all_labels, **some})

    return shares


def _plan_now(facts: Facts) -> list[Any]:
    now = {name: facts["project"][name] for name in ("per_item", "plan", "share", "doubled")}
    made_under = [{name: one[name] for name in now} for one in facts["provenance"]["plans"]]
    return _if(now not in made_under, now)


def _imported_version(facts: Facts) -> list[Any]:
    versions = [value for value in facts["provenance"]["versions"] if value["imported"]]
    return _if(versions, {"versions": versions})


def _more(rows: Sequence[Any], facts: Facts) -> list[Any]:
    """Return how many rows a table leaves out."""
    return _if(len(rows) > facts["most_rows"], len(rows) - facts["most_rows"])


def _time(facts: Facts) -> list[Any]:
    labels, here = facts["labels"], facts["provenance"]["here"]["timed"]
    return _if(labels["timed"], {**labels, "here": here, "others": labels["timed"] - here})


def _sentences(facts: Facts) -> bool:
    return bool(facts["project"]["kind"] == "sentences")


def _order(facts: Facts) -> list[Any]:
    return _if(facts["provenance"]["here"]["labels"], {"seed": facts["project"]["seed"]})


def _adjudication(facts: Facts) -> bool:
    result = facts["adjudication"]
    return bool(result["split"] or result["decided"] or result["left"])


def _adjudicable(facts: Facts) -> bool:
    """Return whether adjudication may settle sentences otherwise than their labels do, or has settled some."""
    return bool(facts["project"]["rescue"] or facts["adjudication"]["decided"])


def _retests_from_outside(facts: Facts) -> list[Any]:
    made = facts["provenance"]["retests"]
    return _if(facts["retests"]["items"] and made["others"], {**made, "all": made["here"] + made["others"]})


def _left_out(facts: Facts) -> int:
    return int(facts["retests"]["other_guideline"] + facts["retests"]["seen"])


# How labels were made: the method section and the data sheet share them (labelling.md.jinja).
LABELLING: dict[str, Evidence] = {
    "package": lambda facts: _if(facts["provenance"].get("package"), facts["provenance"].get("package")),
    "gold_labels": lambda facts: facts["provenance"].get("gold_labels", ()),
    "made_here": _of_all("here"),
    "imported_labels": _of_all("imported"),
    "imported_file": lambda facts: facts["provenance"]["imported"]["files"],
    "imported_dates": lambda facts: _if(facts["provenance"]["imported"]["dated"], facts["provenance"]["imported"]),
    "unknown_labels": _of_all("unknown"),
    "consent": lambda facts: _if(facts["provenance"]["labels"], facts["provenance"]["consent"]),
    "consent_left_out": lambda facts: _if(
        facts["provenance"]["consent"]["left_out"]["people"], facts["provenance"]["consent"]["left_out"]
    ),
    "older_labels": lambda facts: _if(facts["provenance"]["older"], facts["provenance"]),
    "imported_version": _imported_version,
    "plan": lambda facts: facts["provenance"]["plans"],
    "plan_now": _plan_now,
    "form_shown": _of_all("here"),
    "blind": _of_all("here"),
    "counted": lambda facts: _if(sum(facts["provenance"]["counted"].values()), facts["provenance"]["counted"]),
    "rescue_changed": lambda facts: facts["provenance"].get("rescue_changes", ()) if _sentences(facts) else (),
    "order_sentences": lambda facts: _order(facts) if _sentences(facts) else [],
    "order_generations": lambda facts: [] if _sentences(facts) else _order(facts),
}
METHOD: dict[str, Evidence] = {
    "kept": _quantities,
    "source_statement": lambda facts: _if(facts["project"]["source_statement"]),
    "mining": lambda facts: _if(facts["mining"]["runs"]),
    "mining_part": lambda facts: _if(facts["mining"]["runs"] and not facts["mining"]["whole"]),
    "mining_sums": lambda facts: _if(len(facts["mining"]["runs"]) > 1),
    "mining_signature": lambda facts: facts["mining_signatures"],
    "imported_items": _quantities,
    "mined_items": lambda facts: _if(facts["sources"]["mined"]),
    "mining_unknown": lambda facts: _if(facts["mining"]["imported"] < facts["sources"]["mined"]),
    "preregistered": lambda facts: [one for one in facts["preregistration"] if one["before"]],
    "preregistered_late": lambda facts: [one for one in facts["preregistration"] if not one["before"]],
    "no_pilot": lambda facts: _if(not facts["pilots"]),
    "pilot": lambda facts: facts["pilots"],
    "pilot_tags": lambda facts: [entry for entry in facts["pilots"] if entry["tags"]],
    "tag_criteria": lambda facts: facts["provenance"]["tag_criteria"],
    "guideline_changes": lambda facts: _if(changed := [one for one in facts["guidelines"] if one["changes"]], changed),
    "choices": lambda facts: [facts["newest"]],
    "criteria": lambda facts: _if(facts["newest"]["reasons"], facts["newest"]),
    "sent_back": lambda facts: _if(facts["events"].get("sent_back")),
    "annotators": _quantities,
    "gold_majority": lambda facts: _if(facts["project"]["gold"] == "majority"),
    "gold_sentences": lambda facts: (
        [_adjudicable(facts)] if facts["project"]["gold"] != "majority" and _sentences(facts) else []
    ),
    "gold_generations": lambda facts: _if(facts["project"]["gold"] != "majority" and not _sentences(facts)),
    "gold_changed": lambda facts: facts["provenance"].get("gold_changes", ()),
    "replaced": lambda facts: _if(facts["events"].get("replaced"), facts["events"].get("replaced")),
    "no_known_answers": lambda facts: _if(not facts["hidden_gold"]["items"] and not facts["hidden_gold"]["labels"]),
    "known_answers": lambda facts: _if(
        facts["hidden_gold"]["items"] or facts["hidden_gold"]["labels"], facts["hidden_gold"]
    ),
    "late_answers": lambda facts: _if(facts["hidden_gold"].get("older"), facts["hidden_gold"]),
    "no_time": lambda facts: _if(not facts["labels"]["timed"], facts["labels"].get("hours_reason")),
    "time": _time,
    "unanimous_sentences": lambda facts: _if(_sentences(facts)),
    "unanimous_generations": lambda facts: _if(not _sentences(facts)),
    "terms_sentences": lambda facts: _if(_sentences(facts)),
    "terms_generations": lambda facts: _if(not _sentences(facts)),
    "agreement_share": lambda facts: _if(facts["agreement"]["on"] == "share"),
    "agreement_all": lambda facts: _if(facts["agreement"]["on"] != "share", facts["agreement"]),
    "agreement_ended": lambda facts: _if(ended := facts["agreement"].get("ended_at_reject"), ended),
    "agreement_imported": lambda facts: _if(some := facts["agreement"].get("imported_ended_at_reject"), some),
    "agreement_intervals": lambda facts: [{**facts["agreement"], "coverage": facts["coverage"], "fewest": FEWEST_OF}],
    "agreement_scope": lambda facts: [facts["agreement"]],
    "agreement_signature": lambda facts: [facts["agreement"]],
    "no_retests": lambda facts: _if(not facts["retests"]["items"], facts["retests"]["same"]),
    "retest_plan": lambda facts: _if(
        facts["retests"]["items"] and facts["provenance"]["retest_plan"], facts["provenance"]["retest_plan"]
    ),
    "retests_from_outside": _retests_from_outside,
    "retests": lambda facts: _if(facts["retests"]["items"], facts["retests"]),
    "retests_left_out": lambda facts: _if(facts["retests"]["items"] and _left_out(facts), _left_out(facts)),
    "retest_signature": lambda facts: _if(facts["retests"]["items"], facts["retests"]["signature"]),
    "no_disagreement": lambda facts: _if(not _adjudication(facts)),
    "adjudication": lambda facts: _if(_adjudication(facts), facts["adjudication"]),
    "settled_before": lambda facts: _if(sum(facts["adjudication"]["not_split"].values()), facts["adjudication"]),
    "decisions": lambda facts: _if(facts["adjudication"]["decided"], facts["adjudication"]["decided"]),
    "decisions_without_effect": lambda facts: _if(
        facts["adjudication"].get("without_effect"), facts["adjudication"].get("without_effect")
    ),
    "rescue": lambda facts: _if(
        _adjudication(facts) and _sentences(facts) and facts["project"]["rescue"], facts["adjudication"]
    ),
    "no_rescue": lambda facts: _if(_adjudication(facts) and _sentences(facts) and not facts["project"]["rescue"]),
    "no_kept_text": lambda facts: _if(not facts["statistics"]["sentences"]),
    "lengths": lambda facts: _if(facts["statistics"]["sentences"]),
    "commonest_characters": lambda facts: _if(facts["statistics"]["sentences"]),
    "vocabulary": lambda facts: _if(facts["statistics"]["sentences"] and facts["statistics"]["vocabulary"]),
    "statistics_signature": lambda facts: _if(facts["statistics"]["sentences"]),
    "first_release": lambda facts: _if(facts["release"]["previous"] is None),
    "since_release": lambda facts: (
        [] if facts["release"]["previous"] is None else [facts["changes"].get("all_labels") or True]
    ),
    "release_notes": lambda facts: _if(facts["release"]["notes"]),
    "licence": lambda facts: _if(facts["project"]["licence"]),
    "release": lambda facts: [facts["release"]],
    "content_hash": lambda facts: [facts["release"]],
    "canary_in_texts": lambda facts: _if(facts["canary_in_texts"]),
    "canary_in_card": lambda facts: _if(not facts["canary_in_texts"]),
    "older_versions": lambda facts: _if(facts["newest"]["version"] > 1),
}
DATASHEET: dict[str, Evidence] = {
    "release_reason": lambda facts: _if(
        facts["release_reason"], {"reason": facts["release_reason"], "why": facts["release_checks"]}
    ),
    "held": _quantities,
    "kept_items": lambda facts: _if(facts["kept_cells"], facts["quantities"]),
    "nothing_kept": lambda facts: _if(not facts["kept_cells"]),
    "more_kept_rows": lambda facts: _more(facts["kept_cells"], facts),
    "before_filtering": _quantities,
    "more_rows": lambda facts: _more(facts["cells"], facts),
    "rate": _quantities,
    "signature": lambda facts: facts["signatures"],
    "guideline_kind": lambda facts: [facts["guideline"]],
    "joined": _quantities,
    "standing": _quantities,
    "flags": lambda facts: _if(facts["labels"].flags),
    "marks": lambda facts: _if(facts["labels"].marks),
    "follow_up": lambda facts: [value for value in facts["follow_ups"] if value["kept"].judged],
    "follow_up_open": lambda facts: [one for one in facts["follow_ups"] if not one["kept"].judged],
    "no_agreement": lambda facts: _if(facts["agreement"] is None),
    "sheet_agreement_share": lambda facts: _if(facts["agreement"] is not None and facts["agreement"].on == "share"),
    "sheet_agreement_ended": lambda facts: _if(
        facts["agreement"] is not None and facts["agreement"].ended, facts["agreement"] and facts["agreement"].ended
    ),
    "sheet_agreement_imported": lambda facts: _if(
        facts["agreement"] is not None and facts["agreement"].imported_ended,
        facts["agreement"] and facts["agreement"].imported_ended,
    ),
    "sheet_agreement_signature": lambda facts: _if(facts["agreement"] is not None),
    "locked": lambda facts: _if(facts["locked"]),
    "open": lambda facts: _if(not facts["locked"]),
    "canary": lambda facts: _if(facts["canary"]),
    "log": lambda facts: _if(facts["log"], facts["log"]),
    "by_hand": lambda facts: [facts["project"]],
}


def _guidelines_between(facts: Facts) -> list[Any]:
    """Return the versions of the guideline since the release before; none for a first release."""
    before = facts["changes"]["guideline"]["before"]
    return [one for one in facts["guidelines"] if before is not None and one["version"] > before]


def _same_guideline(facts: Facts) -> bool:
    result = facts["changes"]["guideline"]
    return bool(result["before"] == result["after"])


def _since(facts: Facts) -> bool:
    return facts["changes"]["from"] is not None


CHANGES: dict[str, Evidence] = {
    "changes_of_first": lambda facts: _if(not _since(facts)),
    "changes_since": lambda facts: _if(_since(facts), facts["changes"]["from"]),
    "same_guideline": lambda facts: _if(_since(facts) and _same_guideline(facts), facts["changes"]["guideline"]),
    "other_guideline": lambda facts: _if(_since(facts) and not _same_guideline(facts), facts["changes"]["guideline"]),
    "guidelines_between": _guidelines_between,
}


def _studies(wanted: Callable[[Mapping[str, Any]], object]) -> Evidence:
    """Return evidence of the studies for which something holds."""
    return lambda facts: [study for study in facts["annotators"]["studies"] if wanted(study)]


def _outside_studies(facts: Facts) -> bool:
    return bool(facts["annotators"]["with_account"] or facts["annotators"]["with_others"])


ANNOTATORS: dict[str, Evidence] = {
    "card_hides": lambda facts: [facts["annotators"]["fewest"]],
    "card_people": _quantities,
    "came_by_study": _studies(lambda study: True),
    "came_with_account": lambda facts: _if(facts["annotators"]["with_account"], facts["annotators"]),
    "came_otherwise": lambda facts: _if(facts["annotators"]["with_others"], facts["annotators"]),
    "trained_by_guideline": lambda facts: [len(facts["guidelines"])],
    "trained_by_pilot": lambda facts: facts["pilots"],
    "tested": _studies(lambda study: study["questions"]),
    "not_tested": lambda facts: _if(not any(study["questions"] for study in facts["annotators"]["studies"])),
    "paid": _studies(lambda study: study["reward"]),
    "not_paid": _studies(lambda study: not study["reward"]),
    "pay_not_recorded": lambda facts: _if(_outside_studies(facts)),
    "consent_form": _studies(lambda study: True),
    "groups_not_published": lambda facts: facts["annotators"]["groupings"],
    "background_not_recorded": lambda facts: _if(not facts["annotators"]["groupings"]),
    "arr_instructions": lambda facts: [facts["annotators"]["studies"]],
    "arr_recruitment": lambda facts: _if(facts["annotators"]["studies"], _outside_studies(facts)),
    "arr_recruitment_unknown": lambda facts: _if(not facts["annotators"]["studies"]),
    "arr_consent": lambda facts: [facts["provenance"]["consent"]],
    "arr_review": lambda facts: [facts["project"]],
    "arr_population": lambda facts: [facts["annotators"]["groupings"]],
}
CLAIMS = LABELLING | METHOD | DATASHEET | CHANGES | ANNOTATORS


SHARED = Path(__file__).parent / "templates"  # the parts that several papers include


def paper_blocks(folder: Path, name: str, language: Language, facts: Mapping[str, Any]) -> list[Block]:
    """Return the paper *name* from the template in *folder*/LANGUAGE.

    Raises jinja2.UndefinedError for a missing fact.
    """
    template = _environment(folder, language).get_template(f"{name}.md.jinja")
    text = template.render({**facts, "claim": render_claims(facts)})
    return _blocks(text, "" if language == "zh" else " ")


@cache
def _environment(folder: Path, language: Language) -> Environment:
    made = Environment(
        loader=FileSystemLoader([folder / language, SHARED / language, SHARED]),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=_escaped,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    say = Say(language)

    def value(one: Estimate) -> str:
        """Return a number with three decimals, or a dash and the reason."""
        why = DASH + say.in_brackets(say(one.reason.message, **one.reason.values)) if one.reason else "—"
        return why if one.value is None else f"{one.value:.3f}"

    def interval(one: Estimate) -> str:
        """Return an interval as [low, high], or a dash and the reason."""
        if one.value is None or one.low is None or one.high is None:
            known = one.note if one.value is not None else None
            return DASH + say.in_brackets(say(known.message, **known.values)) if known else "—"
        return f"[{one.low:.3f}, {one.high:.3f}]"

    made.filters |= {
        "cell": cell,
        "thousands": lambda number: f"{number:,}",
        "percent": lambda share, digits=1: f"{share:.{digits}%}",
        "decimals": lambda number, digits: f"{number:.{digits}f}",
        "whole": lambda number: int(number) if isinstance(number, float) and number.is_integer() else number,
        "rounded": lambda number: None if number is None else round(number, 2),
        "sentence": lambda text: text[:1].upper() + text[1:],
        "reason": lambda found: reason(found, say),
        "estimate": lambda found: estimate(found, say),
        "short_estimate": short_estimate,
        "half_width": _half_width,
        "verbatim": _verbatim,
        "beyond": lambda rows, most: len(rows) - most,
        "translated": say,
        "value": value,
        "interval": interval,
        "named": pass_context(partial(named, say=say)),
        "titled": lambda id_: say(ENTRIES[id_].name),
    }
    made.globals |= {"some": pass_context(some), "stated": pass_context(stated)}
    made.globals |= {one.__name__: pass_context(partial(one, say=say)) for one in (number, how_made)}
    return made


def _half_width(found: Mapping[str, Any]) -> str:
    """Return half the width of the interval of an estimate, or a dash and the reason."""
    if found["low"] is None or found["high"] is None:
        return DASH
    return f"{(found['high'] - found['low']) / 2:.3f}"


def _escaped(value: object) -> Markup:
    return value if isinstance(value, Markup) else Markup(markdown_text(str(value)))  # noqa: S704


def _verbatim(text: str) -> Markup:
    """Return verbatim lines between fences longer than any in them."""
    fence = "~" * max([3, *(len(line) + 1 for line in text.splitlines() if set(line.strip()) == {"~"})])
    lines = "".join(f"{line}\n" for line in text.splitlines())
    return Markup(f"{fence}\n{lines}{fence}")  # noqa: S704


def _blocks(text: str, between: str) -> list[Block]:
    """Return Markdown as blocks; *between* joins sentences on separate lines."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    blocks: list[Block] = []
    at = 0
    while at < len(tokens):
        token, end = tokens[at], _end(tokens, at)
        inside = [one for one in tokens[at:end] if one.type == "inline"]
        match token.type:
            case "heading_open":
                blocks.append(Heading(_text(inside[0].children, between), int(token.tag[1])))
            case "paragraph_open":
                blocks.append(_paragraph(inside[0], between))
            case "bullet_list_open":
                blocks.append(Points(tuple(_text(one.children, between) for one in inside)))
            case "table_open":
                blocks.append(_table(tokens[at:end], between))
            case "fence":
                blocks.append(Verbatim(token.content))
            case _:
                raise ValueError(f"a paper has no {token.type}")
        at = end
    return blocks


def _end(tokens: Sequence[Token], at: int) -> int:
    """Return the end of the block that begins at *at*."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += tokens[place].nesting
        if depth == 0:
            return place + 1
    return len(tokens)


def _paragraph(inline: Token, between: str) -> Block:
    children = inline.children or []
    ends = [place for place, child in enumerate(children) if child.type == "strong_close"]
    if not ends:
        return Text(_text(children, between))
    return Answered(_text(children[: ends[0]], between), _text(children[ends[0] :], between).strip())


def _table(tokens: Sequence[Token], between: str) -> Table:
    heads = [token for token in tokens if token.type == "th_open"]
    cells = [_text(token.children, between) for token in tokens if token.type == "inline"]
    rows = [tuple(cells[at : at + len(heads)]) for at in range(len(heads), len(cells), len(heads))]
    right = tuple("right" in str(head.attrs.get("style", "")) for head in heads)
    return Table(tuple(cells[: len(heads)]), tuple(rows), right)


def _text(children: Sequence[Token] | None, between: str) -> str:
    return "".join(between if child.type == "softbreak" else child.content for child in children or ())
