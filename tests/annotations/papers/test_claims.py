"""No sentence of a project's papers contradicts the records, for any history of the project.

Every sentence of a template belongs to a claim. Every claim has a check over the records, and over the notes that this
test itself took while it made the history.
"""

import itertools
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenhand.annotations.database.hash_chain import head
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import guideline, guidelines
from evenhand.annotations.items.batch import items
from evenhand.annotations.papers import datasheet
from evenhand.annotations.papers.datasheet import read_known
from evenhand.annotations.papers.paper import ANNOTATORS, CHANGES, CLAIMS, DATASHEET, LABELLING, METHOD, render_claims
from evenhand.annotations.projects.projects import (
    annotators,
    create_project,
)
from evenhand.annotations.release.changes import TEMPLATES as RELEASE
from evenhand.annotations.release.dataset_card import card as release_card
from evenhand.annotations.release.facts import gather
from evenhand.annotations.release.files import method_facts
from evenhand.annotations.release.readiness import to_explain
from evenhand.annotations.text_policy import text_may_leave
from evenhand.core.files.readers import file_sha256
from evenhand.core.language import LANGUAGES
from evenhand.core.version import VERSION
from tests.support.paper_history import History, Written
from tests.support.projects import new_store
from tests.support.released_project import ready_project, rehearse

IN_CLAIM = re.compile(r'\{% call\(one\) claim\("(\w+)"\) %\}\n.*?\{% endcall %\}\n?', re.S)
MACRO = re.compile(r"\{% macro .*?\{% endmacro %\}\n", re.S)  # a part of the sentences that call it


def templates() -> list[Path]:
    return [
        folder / language / f"{name}.md.jinja"
        for folder, name in (
            (RELEASE, "method"),
            (RELEASE, "preregistration"),
            (RELEASE, "changes"),
            (RELEASE, "dataset_card"),
            (RELEASE, "annotator_card"),
            (datasheet.TEMPLATES, "datasheet"),
            (datasheet.TEMPLATES, "labelling"),
        )
        for language in LANGUAGES
    ]


# Lines of a template that are not sentences of it: texts and lists of the records.
QUOTED = re.compile(r"\{\{ (?:guideline_text \| verbatim|text \| verbatim|items\([\w.]+\)|table\(\w+\)) \}\}")


def test_every_sentence_belongs_to_a_claim_with_a_check() -> None:
    used = set()
    for file in templates():
        text = MACRO.sub("", file.read_text(encoding="utf-8"))
        used |= set(IN_CLAIM.findall(text))
        rest = re.sub(r"\{%.*?%\}", "", IN_CLAIM.sub("", text))
        sentences = [line for line in rest.splitlines() if line and line[0] not in "#|"]
        assert all(QUOTED.fullmatch(sentence) for sentence in sentences), file
    assert used == set(CLAIMS) == set(CHECKS) | set(CHANGES) | set(ANNOTATORS)


def test_a_claim_without_evidence_is_not_rendered() -> None:
    claim = render_claims({"provenance": {"labels": 0, "here": {"labels": 0}}})
    assert claim("form_shown", lambda one: f"Shown {one}.") == ""


NAMES = "label label reject reveal bring undo plan rescue sheet follow_up pilot version known replace consent"
ACTIONS = st.tuples(st.sampled_from(NAMES.split()), st.integers(0, 14), st.booleans())


# --- the content of each claim, counted independently


def of(h: History, origin: str) -> list[Written]:
    return [label for label in h.labels.values() if label.origin == origin]


def number(h: History, query: str) -> int:
    return int(h.store.db.execute(query, {"project": h.project.id}).fetchone()[0] or 0)


def plan_values(one: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(one[name] for name in ("per_item", "plan", "share", "doubled"))


def counts_match(origin: str) -> "Check":
    return lambda h, one: (one["of"], one["labels"]) == (len(h.labels), len(of(h, origin))) and one["labels"] > 0


def form_matches(h: History, one: Any) -> bool:
    forms = Counter(label.form for label in of(h, "here"))
    return (one["masked"], one["original"]) == (forms["masked"], forms["original"])


def plan_matches(h: History, one: Any) -> bool:
    """Check that at least this many labels have these settings; `plans_are_whole` checks for missing ones."""
    return 0 < one["labels"] <= sum(label.plan == plan_values(one) for label in of(h, "here"))


def file_matches(h: History, one: Any) -> bool:
    path = h.folder / one["file"]
    labels = sum(label.file == path.name for label in h.labels.values())
    return (one["program"], one["sha256"], one["labels"]) == ("Label Studio", file_sha256(path), labels)


def versions_match(h: History, one: Any) -> bool:
    return sum(version["imported"] for version in one["versions"]) == len(of(h, "imported"))


def shared(h: History, one: dict[str, Any], people: set[str]) -> bool:
    labels = [name for _uid, name in h.labels if name in people]
    return (one["labels"], one["people"]) == (len(labels), len(set(labels)))


def released(h: History) -> set[str]:
    """Return the members whose labels are released: those of `ready_project` consent, later ones do not."""
    return {name for name in {name for _uid, name in h.labels} if h.shared.get(name, name in ("Ada", "Bo", "Chen"))}


def consent_matches(h: History, one: Any) -> bool:
    may = released(h)
    train = {name for name in may if h.trained.get(name)}
    return shared(h, one["released"], may) and shared(h, one["training"], train)


def pilot_matches(h: History, one: Any) -> bool:
    query = "SELECT items, people, seed FROM pilot WHERE number = ? AND closed IS NOT NULL"
    drawn, people, _seed = h.store.db.execute(query, (one["number"],)).fetchone()
    return (one["drawn"], one["people"]) == (drawn, people) and one["number"] <= h.pilots


def tags_match(h: History, one: Any) -> bool:
    return 0 < one["tags"] <= h.tags


def criteria_match(h: History, one: Any) -> bool:
    codes = {reason.code for reason in guideline(h.store, h.project, one["version"]).reasons}
    return h.tags > 0 and one["criteria"].keys() <= codes


def newest_matches(h: History, one: Any) -> bool:
    newest = guideline(h.store, h.project)
    codes = [choice.code for choice in newest.choices], [reason.code for reason in newest.reasons]
    written = [code for code, _, _ in one["choices"]], [code for code, _, _ in one["reasons"]]
    return (one["version"], written) == (newest.version, codes)


def changes_match(h: History, one: Any) -> bool:
    versions = [(version.version, version.changes) for version in guidelines(h.store, h.project) if version.changes]
    return [(row["version"], row["changes"]) for row in one] == versions


def agreement_matches(h: History, one: Any) -> bool:
    """Check the number of items, fewer for a share, and the units and categories of the signature."""
    codes = "+".join(choice.code for choice in guideline(h.store, h.project).choices)
    labelled = number(h, LABELLED_ITEMS)
    items_match = one["items"] == labelled or (one["on"] == "share" and one["items"] < labelled)
    units_match = ("unit:source" in one["signature"]) == bool(number(h, REPEATED_SOURCES))
    return items_match and units_match and f"|categories:{codes}|" in one["signature"]


def release_matches(h: History, one: Any) -> bool:
    """Check that the version and the release before it exist."""
    results = dict(h.store.db.execute("SELECT version, hash FROM frozen_release WHERE project = ?", (h.project.id,)))
    before = results.get(one["previous"] or "")
    return one["version"] not in results and (one["previous"] is None) == (before is None) and bool(one["hash"])


def some_kept(h: History, _one: Any) -> bool:
    return bool(list(items(h.store, h.project, accepted_only=True)))


SETTLED = "SELECT count(*) FROM item WHERE project = :project AND (split = 1 OR settlement IS NOT NULL)"
REVIEWED = "SELECT count(*) FROM item WHERE project = :project AND labels > 0 AND labels >= wanted"
KNOWN = "SELECT count(*) FROM known WHERE project = :project"
STORED_BEFORE = """
SELECT count(*) FROM standing_label AS label LEFT JOIN label_of_file AS one ON one.label = label.id
    LEFT JOIN label_file AS file ON file.id = one.file
WHERE label.project = :project AND iif(file.id IS NULL, label.created, file.created) < '{}'
"""
LATE_ANSWERS = """
SELECT count(*) FROM blind_label AS label JOIN known ON known.item = label.item
WHERE label.project = :project AND label.created < known.created
"""
RETESTED = "SELECT count(*) FROM retest WHERE project = :project AND latest IS NOT NULL"
MINED = "SELECT count(*) FROM event WHERE project = :project AND action = 'mined'"
EVENT = "SELECT count(*) FROM event WHERE project = :project AND action = "
REPEATED_SOURCES = """
SELECT count(DISTINCT source) >= 2 AND count(source) > count(DISTINCT source) FROM
    (SELECT DISTINCT item.id, json_extract(item.extra, '$.source') AS source
        FROM blind_label JOIN item ON item.id = blind_label.item WHERE blind_label.project = :project)
"""
# Under the plan `all`, after a time of `stop`: a reject is there, and other labels are not.
ENDED = """
SELECT count(DISTINCT blind_label.item) FROM blind_label JOIN item ON item.id = blind_label.item
    JOIN project ON project.id = item.project AND project.plan = 'all' AND item.labels < project.per_item
WHERE blind_label.project = :project AND choice = 'reject' AND item.pilot IS NULL
    AND EXISTS (SELECT 1 FROM event WHERE action = 'plan' AND json_extract(data, '$.old.plan') = 'stop')
"""
# Of the random share under `stop`: a label of a file and a reject are there, and labels are missing.
IMPORTED_ENDED = """
SELECT count(DISTINCT one.item) FROM blind_label AS one JOIN label_of_file ON label_of_file.label = one.id
    JOIN item ON item.id = one.item AND item.shared = 1 AND item.labels < item.wanted
    JOIN blind_label AS two ON two.item = one.item AND two.choice = 'reject'
    JOIN project ON project.id = item.project AND project.plan = 'stop'
WHERE one.project = :project
"""
LABELLED = "SELECT count(*) FROM standing_label WHERE project = :project"
LABELLED_ITEMS = "SELECT count(DISTINCT item) FROM blind_label WHERE project = :project"
RELEASED = "SELECT count(*) FROM frozen_release WHERE project = :project"
CELLS = "SELECT count(DISTINCT cell) FROM published_item WHERE project = :project"
DECIDED = """
SELECT count(*) FROM item JOIN settlement ON settlement.id = item.settlement
WHERE item.project = :project AND settlement.action = 'decide'
"""
Check = Callable[[History, Any], bool]
# Values printed unchanged: texts of the project, signatures, numbers that other tests count.
PRINTED: dict[str, Check] = {
    "source_statement": lambda h, _one: bool(h.project.source_statement),
    "licence": lambda h, _one: bool(h.project.licence),
    "by_hand": lambda h, one: all(one[name] == getattr(h.project, name) for name in ("licence", "source_statement")),
    "guideline_changes": changes_match,
    "choices": newest_matches,
    "criteria": newest_matches,
    "agreement_scope": agreement_matches,
    "agreement_signature": agreement_matches,
    "sheet_agreement_signature": lambda h, _one: len({name for _uid, name in h.labels}) > 1,
    "retest_signature": lambda h, one: one.startswith("consistency|") and number(h, RETESTED) > 0,
    "retests_left_out": lambda h, one: 0 < one <= number(h, RETESTED),
    **dict.fromkeys(("lengths", "commonest_characters", "vocabulary", "statistics_signature"), some_kept),
    "since_release": lambda h, _one: number(h, RELEASED) > 0,
    "release_notes": lambda _h, _one: False,  # the releases of this history have none
    "release": release_matches,
    "content_hash": release_matches,
    "more_rows": lambda h, _one: number(h, CELLS) > datasheet.MOST_ROWS,
    "rate": lambda h, one: (share := one["items.accepted_share"])["value"] is None or share["n"] == number(h, REVIEWED),
    "more_kept_rows": lambda h, _one: number(h, CELLS) > datasheet.MOST_ROWS,
    **dict.fromkeys(("signature", "mining_signature", "mining_part"), lambda h, _one: number(h, MINED) > 0),
    "mining_sums": lambda h, _one: number(h, MINED) > 1,
    "mining_unknown": lambda h, _one: number(h, f"{CELLS} AND json_type(extra, '$.source') = 'object'") > 0,
    "decisions": lambda h, one: sum(one.values()) == number(h, DECIDED),
}
CHECKS: dict[str, Check] = PRINTED | {
    "kept": lambda h, one: (
        one["items.kept"]["value"] == len(list(items(h.store, h.project, accepted_only=True)))
        and one["items.reviewed"]["value"] == number(h, REVIEWED)
    ),
    **dict.fromkeys(
        ("held", "imported_items", "before_filtering"),
        lambda h, one: one["items.imported"]["value"] == len(list(items(h.store, h.project))),
    ),
    "kept_items": lambda h, one: (
        one["items.kept"]["value"] == len(list(items(h.store, h.project, accepted_only=True))) > 0
    ),
    "nothing_kept": lambda h, _one: not list(items(h.store, h.project, accepted_only=True)),
    "annotators": lambda h, one: (
        one["annotators.labelled"]["value"] == len({name for _uid, name in h.labels})
        and one["annotators.active"]["value"] == len(annotators(h.store, h.project))
        and one["annotators.recorded"]["value"] == len(annotators(h.store, h.project, active=False))
    ),
    "joined": lambda h, one: one["annotators.recorded"]["value"] == len(annotators(h.store, h.project, active=False)),
    "time": lambda h, one: (
        (one["timed"], one["here"], one["others"]) == (len(of(h, "imported")), 0, len(of(h, "imported")))
    ),  # only the tasks have a time
    "package": lambda _h, _one: False,  # this history brings no package
    "gold_labels": lambda _h, _one: False,  # tests/annotations/files/test_gold_labels.py brings one
    "made_here": lambda h, one: counts_match("here")(h, one) and one["apps"] == {VERSION: one["labels"]},
    "imported_labels": counts_match("imported"),
    "imported_file": file_matches,
    "imported_dates": lambda h, one: (
        one["dated"] == sum(label.dated for label in of(h, "imported"))
        and one["first_day"] == one["last_day"] == "2024-03-01"
    ),
    "unknown_labels": counts_match("unknown"),
    "consent": consent_matches,
    "consent_left_out": lambda h, one: shared(h, one, {name for _uid, name in h.labels} - released(h)),
    "older_labels": lambda h, one: one["older"] == sum(label.older for label in h.labels.values()),
    "imported_version": versions_match,
    "plan": plan_matches,
    "plan_now": lambda h, one: plan_values(one) not in {label.plan for label in of(h, "here")},
    "form_shown": form_matches,
    "blind": lambda h, one: (
        one["after_reveal"] == sum(label.revealed for label in of(h, "here"))
        and one["before_reveal"] + one["after_reveal"] == len(of(h, "here"))
    ),
    "counted": lambda h, one: one == {key: len(of(h, key)) for key in ("here", "imported", "unknown")},
    "order_sentences": lambda h, one: (
        bool(of(h, "here")) and (h.project.kind, one["seed"]) == ("sentences", h.project.seed)
    ),
    "order_generations": lambda h, one: (
        bool(of(h, "here")) and (h.project.kind, one["seed"]) == ("generations", h.project.seed)
    ),
    "mining": lambda h, _one: number(h, MINED) > 0,
    "mined_items": lambda h, _one: number(h, MINED) > 0,
    "preregistered": lambda h, one: (
        h.sheets[one["sha256"]] == 0
        and not of(h, "imported")
        and not of(h, "unknown")
        and not number(h, f"{LABELLED} AND created <= '{one['written']}'")
    ),
    "preregistered_late": lambda h, one: (
        h.sheets[one["sha256"]] == one["labels"]
        and one["elsewhere"]
        == len(of(h, "imported")) + number(h, f"{LABELLED} AND app IS NOT NULL AND created <= '{one['written']}'")
    ),
    "no_pilot": lambda h, _one: h.pilots == 0,
    "pilot": pilot_matches,
    "pilot_tags": tags_match,
    "tag_criteria": criteria_match,
    "sent_back": lambda h, _one: number(h, f"{EVENT}'sent_back'") > 0,
    "gold_majority": lambda h, _one: h.project.gold == "majority",
    "gold_sentences": lambda h, one: (
        (h.project.gold, h.project.kind) == ("unanimous", "sentences") and one == h.project.rescue
    ),  # this history has no adjudication
    "gold_generations": lambda h, _one: (h.project.gold, h.project.kind) == ("unanimous", "generations"),
    "gold_changed": lambda h, one: (
        (one["old"], one["new"]) in itertools.pairwise(h.golds)
        and (one["labels"], one["older"]) == (len(h.labels), number(h, STORED_BEFORE.format(one["changed"])))
    ),
    "rescue_changed": lambda h, one: (
        (one["old"], one["new"]) in itertools.pairwise(h.rescues)
        and (one["labels"], one["older"]) == (len(h.labels), number(h, STORED_BEFORE.format(one["changed"])))
    ),
    "replaced": lambda h, one: number(h, f"{EVENT}'replaced'") == one,
    "no_known_answers": lambda h, _one: number(h, KNOWN) == 0,
    "known_answers": lambda h, _one: number(h, KNOWN) > 0,
    "late_answers": lambda h, one: one["older"] == number(h, LATE_ANSWERS) > 0,
    "no_time": lambda h, _one: number(h, f"{LABELLED} AND seconds IS NOT NULL") == 0,
    "unanimous_sentences": lambda h, _one: h.project.kind == "sentences",
    "unanimous_generations": lambda h, _one: h.project.kind == "generations",
    "terms_sentences": lambda h, _one: h.project.kind == "sentences",
    "terms_generations": lambda h, _one: h.project.kind == "generations",
    "agreement_intervals": lambda h, one: ("unit:source" in one["signature"]) == bool(number(h, REPEATED_SOURCES)),
    "agreement_share": lambda h, _one: h.project.plan == "stop" or number(h, ENDED) > 0,
    "agreement_ended": lambda h, one: 0 < one <= number(h, ENDED),
    "agreement_imported": lambda h, one: 0 < one == number(h, IMPORTED_ENDED),
    "sheet_agreement_imported": lambda h, one: 0 < one == number(h, IMPORTED_ENDED),
    "agreement_all": lambda h, one: (
        h.project.plan != "stop"
        and (one["items"], one["labels"]) == (len({uid for uid, _name in h.labels}), len(h.labels))
    ),  # of this history every label counts
    "sheet_agreement_share": lambda h, _one: h.project.plan == "stop" or number(h, ENDED) > 0,
    "sheet_agreement_ended": lambda h, one: 0 < one <= number(h, ENDED),
    "no_retests": lambda h, _one: number(h, RETESTED) == 0,
    "retest_plan": lambda h, one: number(h, RETESTED) > 0 and one == {"retest": 1.0, "retest_hours": 0},
    "retests_from_outside": lambda h, _one: False,  # this history brings no package
    "retests": lambda h, _one: number(h, RETESTED) > 0,
    "no_disagreement": lambda h, _one: number(h, SETTLED) == 0,
    "adjudication": lambda h, _one: number(h, SETTLED) > 0,
    "settled_before": lambda h, _one: False,
    "decisions_without_effect": lambda h, _one: False,  # this history has no adjudication
    "rescue": lambda h, _one: h.project.rescue,
    "no_rescue": lambda h, _one: not h.project.rescue,
    "no_kept_text": lambda h, _one: not list(items(h.store, h.project, accepted_only=True)),
    "first_release": lambda h, _one: number(h, "SELECT count(*) FROM release WHERE project = :project") == 0,
    "canary": lambda h, _one: h.project.kind == "generations",
    "canary_in_texts": lambda h, _one: h.project.kind == "generations",
    "canary_in_card": lambda h, _one: h.project.kind == "sentences",
    "log": lambda h, one: one == head(h.store.db),
    "older_versions": lambda h, _one: len(guidelines(h.store, h.project)) > 1,
    "guideline_kind": lambda h, one: one == guideline(h.store, h.project),
    "standing": lambda h, one: one["labels.valid"]["value"] == len(h.labels),
    "flags": lambda h, _one: number(h, f"{LABELLED} AND extraneous IS NOT NULL") > 0,
    "marks": lambda h, _one: number(h, f"{LABELLED} AND spans <> '[]'") > 0,
    "follow_up": lambda h, one: (one["kept"].drawn, one["people"]) == (h.drawn, 1) and one["kept"].judged > 0,
    "follow_up_open": lambda h, one: (
        (one["kept"].drawn, one["kept"].judged, one["left_out"], one["elsewhere"]) == (h.drawn, 0, 0, 0)
    ),
    "no_agreement": lambda h, _one: len({name for _uid, name in h.labels}) < 2,
    "release_reason": lambda h, _one: bool(to_explain(h.store, h.project)),
    "locked": lambda h, _one: not text_may_leave(h.project),
    "open": lambda h, _one: h.project.kind == "sentences" or text_may_leave(h.project),
}


@settings(max_examples=25, deadline=None)
@example([("pilot", 0, False), ("label", 1, True), ("plan", 1, False)])
@example([("sheet", 0, False), ("label", 1, True), ("sheet", 0, False), ("bring", 1, True)])
@example([("sheet", 0, False), ("label", 1, True), ("rescue", 0, True), ("label", 0, True), ("rescue", 0, False)])
@example([("plan", 3, False), ("label", 0, True), ("label", 5, True), ("label", 10, True), ("follow_up", 0, True)])
@example([("label", 0, True), ("known", 0, True), ("label", 10, True), ("known", 1, True)])
@example([("label", 0, True), ("bring", 1, True), ("plan", 4, False), ("label", 1, True), ("plan", 1, False)])
@example([("bring", 2, True), ("version", 0, False), ("bring", 1, False), ("undo", 0, False)])
@example([("label", 0, True), ("reject", 5, True), ("known", 1, False), ("replace", 0, False), ("label", 2, True)])
@example([("label", 0, True), ("bring", 1, True), ("consent", 0, False), ("label", 1, True), ("consent", 1, True)])
@example([("pilot", 3, True), ("version", 0, True), ("plan", 1, False), ("label", 2, False), ("reveal", 0, False)])
@given(st.lists(ACTIONS, max_size=9))
def test_no_claim_contradicts_the_records(history: list[tuple[str, int, bool]]) -> None:
    with tempfile.TemporaryDirectory() as folder, new_store(Path(folder) / "a.db") as store:
        h = History(store, ready_project(store, 6), Path(folder))
        for name, chosen_number, flag in history:
            h.act(name, chosen_number, flag)
        facts = gather(store, h.project)
        facts["release"] = {"version": "1.0", "hash": "0", "created": "", "notes": "", "previous": None}
        method = method_facts(facts, guideline(store, h.project).text, "en")
        sheet = datasheet._facts(read_known(store, h.project), "en")
        for claims, evidence in ((LABELLING | METHOD, method), (LABELLING | DATASHEET, sheet)):
            for claim, find in claims.items():
                for value in find(evidence):
                    assert CHECKS[claim](h, value), (claim, value, history)
        assert sum(plan["labels"] for plan in method["provenance"]["plans"]) == len(of(h, "here"))
        card = release_card(method, {}, ("", ""), locked=False)
        for origin, how in (("here", "made at desks of Evenhand"), ("imported", "imported")):
            assert (f"Of {len(h.labels)} labels, {len(of(h, origin))} were {how}." in card) == bool(of(h, origin))
        json.dumps(facts["provenance"], allow_nan=False)


def test_every_check_of_a_claim_can_fail(fresh_store: Store, tmp_path: Path) -> None:
    """A claim printed for one project is false of another, whose records have none of its events."""
    full = rehearse(fresh_store)
    facts = gather(fresh_store, full)
    facts["release"] = {"version": "1.1", "hash": "0", "created": "", "notes": "New.", "previous": "1.0"}
    facts["changes"] = {}
    method = method_facts(facts, guideline(fresh_store, full).text, "en")
    sheet = datasheet._facts(read_known(fresh_store, full), "en")
    bare = History(fresh_store, create_project(fresh_store, "bare"), tmp_path)
    printed = {}
    for claims, evidence in ((METHOD, method), (DATASHEET, sheet)):
        printed |= {name: proof for name in PRINTED.keys() & claims.keys() for proof in claims[name](evidence)}
    assert {
        "guideline_changes",
        "agreement_scope",
        "retest_signature",
        "decisions",
        "rate",
        "by_hand",
    } <= printed.keys()
    for name, check in PRINTED.items():  # what this history has none of is tried with other evidence
        assert not check(bare, printed.get(name, 1)), name
