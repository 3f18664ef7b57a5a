"""Drafts of the next version of the guideline: saved at every change, published as a whole.

Also free tags: words of annotators in a pilot, of which the lead makes criteria.
"""

import json
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store, delete_rows, insert
from evenhand.annotations.guideline.relabelling import (
    CHUNK,
    RelabelCounts,
    Which,
    count_affected,
    send_for_relabelling,
)
from evenhand.annotations.guideline.scheme import more_in, more_out
from evenhand.annotations.guideline.versions import (
    RESERVED,
    add_guideline,
    changed_codes,
    check_options,
    guideline,
    is_reachable,
)
from evenhand.annotations.items.batch import OF_PILOTS, items_with_ids
from evenhand.annotations.types import Annotator, Choice, Guideline, Item, Kind, Project, Scheme
from evenhand.core.errors import N_, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.text.sentences import control_character

LONGEST_TEXT = 100_000  # characters; people have to read it
LONGEST_CHANGES = 2_000
LONGEST_NAME = 400  # of a criterion
LONGEST_CODE = 60


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft. `base`: the version it was begun from; `saved` None: nothing is changed yet."""

    base: int
    text: str
    choices: tuple[Choice, ...]
    reasons: tuple[Choice, ...]
    changes: str = ""
    saved: str | None = None
    scheme: Scheme | None = None

    @property
    def beside(self) -> tuple[Choice, ...]:
        """Reasons or flags, and the points of scales."""
        return (*self.reasons, *(self.scheme.points if self.scheme else ()))

    def differs(self, old: Guideline) -> bool:
        """Return whether the draft differs from *old* for annotators."""
        asked = (self.text.strip(), self.choices, self.reasons, self.scheme)
        return asked != (old.text.strip(), old.choices, old.reasons, old.scheme)


def read_draft(store: Store, project: Project) -> Draft:
    """Return the saved draft, or else one that equals the newest version."""
    query = "SELECT content, saved FROM guideline_draft WHERE project = ?"
    row = store.db.execute(query, (project.id,)).fetchone()
    if row is None:
        newest = guideline(store, project)
        return Draft(newest.version, newest.text, newest.choices, newest.reasons, scheme=newest.scheme)
    kept = json.loads(row[0])
    options = {name: tuple(Choice(**option) for option in kept[name]) for name in ("choices", "reasons")}
    scheme = None if kept.get("scheme") is None else more_in(kept["scheme"])
    return Draft(kept["base"], kept["text"], **options, changes=kept["changes"], saved=row[1], scheme=scheme)


def save_draft(store: Store, project: Project, draft: Draft) -> Draft:
    """Save a draft, complete or not; return it with the time."""
    content = asdict(draft) | {"scheme": None if draft.scheme is None else more_out(draft.scheme)}
    del content["saved"]
    moment = timestamp()
    with store.write():
        insert_draft(store, project, content, moment, "UPDATE SET content = excluded.content, saved = excluded.saved")
    return replace(draft, saved=moment)


def insert_draft(store: Store, project: Project, content: object, saved: str, otherwise: str = "NOTHING") -> bool:
    """Store a draft, in the caller's transaction; return whether it was stored. *otherwise*: for an existing one."""
    row = {"project": project.id, "content": json.dumps(content, ensure_ascii=False), "saved": saved}
    return insert(store.db, "guideline_draft", row, f"ON CONFLICT DO {otherwise}") > 0


def discard_draft(store: Store, project: Project) -> None:
    """Delete the draft; decisions about tags stay."""
    with store.write() as db:
        delete_rows(db, "guideline_draft", project=project.id)


def tag_codes(store: Store, project: Project) -> dict[str, str | None]:
    """Return decisions about tags: the code of the criterion that a tag became, None if it was left out."""
    rows = store.db.execute("SELECT tag, code FROM tag_draft WHERE project = ?", (project.id,))
    return dict(rows.fetchall())


def assign_tags(store: Store, project: Project, tags: Iterable[str], code: str | None) -> None:
    """Decide that *tags* become the criterion *code*; None: leave them out."""
    with store.write():
        for tag in tags:
            insert_tag(store, project, tag, code, "UPDATE SET code = excluded.code")


def insert_tag(store: Store, project: Project, tag: str, code: str | None, otherwise: str = "NOTHING") -> bool:
    """Store the decision about a tag, in the caller's transaction; else as `insert_draft`."""
    row = {"project": project.id, "tag": tag, "code": code}
    return insert(store.db, "tag_draft", row, f"ON CONFLICT DO {otherwise}") > 0


def reopen_tags(store: Store, project: Project, tags: Iterable[str]) -> None:
    """Take back the decisions about *tags*."""
    with store.write() as db:
        delete_rows(db, "tag_draft", project=project.id, tag=tuple(tags))


def check_draft(store: Store, project: Project, draft: Draft) -> None:
    """Raise Refused, with one sentence, if the draft cannot be the next version."""
    newest = guideline(store, project)
    if draft.base != newest.version:
        message = N_(
            "Version {newest} was published in the meantime, while this draft is based on version {base}."
            " Look at what changed, then continue from the newest version."
        )
        raise Refused(message, newest=newest.version, base=draft.base)
    if not draft.differs(newest):
        raise Refused(N_("There are no changes from version {base} yet."), base=draft.base)
    _check_texts(draft)
    check_options(project.kind, draft.choices, draft.reasons, draft.scheme)
    if draft.scheme is None:
        for reason in draft.reasons:
            check_key(project.kind, reason.key)


def check_key(kind: Kind, key: str) -> None:
    """Raise Refused for a key of a reason that no desk can type; without a key a reason gets the next free one."""
    if key and not is_reachable(kind, key):
        message = N_(
            "{key} cannot be the key of a reason: use one letter or digit, but none of {taken}. Without a key it gets"
            " the next free one."
        )
        raise Refused(message, key=repr(key[:10]), taken=", ".join(RESERVED[kind]))


def _check_texts(draft: Draft) -> None:
    if not draft.text.strip():
        raise Refused(N_("The guideline has no text yet."))
    if len(draft.text) > LONGEST_TEXT:
        raise Refused(N_("The guideline exceeds {most} characters."), most=LONGEST_TEXT)
    if not draft.changes.strip():
        raise Refused(N_("Describe the change in a sentence; annotators will read it."))
    if len(draft.changes) > LONGEST_CHANGES:
        raise Refused(N_("Describe the change in at most {most} characters."), most=LONGEST_CHANGES)
    for place, reason in enumerate(draft.reasons):
        check_criterion(reason, draft.reasons[:place])


def check_criterion(choice: Choice, others: Sequence[Choice]) -> None:
    """Raise Refused, with one sentence, if *choice* cannot be a criterion together with the *others*."""
    bare = not any(character.isalnum() for character in choice.code)
    if (
        bare
        or len(choice.code) > LONGEST_CODE
        or control_character(choice.code)
        or any(c.isspace() for c in choice.code)
    ):
        message = N_("{code} is not a valid code: write one word of at most {most} characters, such as too_vague.")
        raise Refused(message, code=repr(choice.code[:LONGEST_CODE]), most=LONGEST_CODE)
    if choice.code in {other.code for other in others}:
        raise Refused(N_("There is already a criterion with the code {code}."), code=choice.code)
    if choice.key and choice.key.lower() in {other.key.lower() for other in others}:
        raise Refused(N_("The key {key} is already used for another criterion."), key=choice.key)
    if not (choice.zh.strip() or choice.en.strip()) or max(len(choice.zh), len(choice.en)) > LONGEST_NAME:
        message = N_("The criterion {code} needs a name of at most {most} characters.")
        raise Refused(message, code=choice.code, most=LONGEST_NAME)


def write_version(
    store: Store,
    project: Project,
    draft: Draft,
    *,
    which: Which = "none",
    also: Collection[str] = (),
    author: str = "",
) -> tuple[Guideline, RelabelCounts]:
    """Publish a draft as the next version and send the labels of *which* for relabelling (see `relabelling`).

    All or nothing up to 1,000 labels; more are sent after the version is written, in several transactions. Returns the
    version and the counts. Raises Refused if a version was written since the draft was begun, if nothing differs, or if
    labels could not be made with it.
    """
    at_once = which == "none"
    if not at_once:
        counts = count_affected(store, project, draft.choices, draft.beside, also)
        at_once = (counts.named if which == "named" else counts.all).labels <= CHUNK
    with store.write():
        check_draft(store, project, draft)
        version, old = draft.base + 1, guideline(store, project)
        add_guideline(
            store, project, draft.text, draft.choices, draft.reasons, changes=draft.changes, scheme=draft.scheme
        )
        discard_draft(store, project)
        changed = changed_codes((*old.choices, *old.beside), (*draft.choices, *draft.beside))
        known = {reason.code for reason in draft.reasons}
        record(
            store, project, "new_version", author=author, version=version, changes=draft.changes.strip(), which=which,
            criteria={name: list(codes) for name, codes in changed._asdict().items()},
            tags={tag: code for tag, code in tag_codes(store, project).items() if code is None or code in known},
        )  # fmt: skip
        sent = send_for_relabelling(store, project, version, which if at_once else "none", also=also, author=author)
    if not at_once:
        sent = send_for_relabelling(store, project, version, which, also=also, author=author)
    return guideline(store, project, version), sent


LONGEST_TAG = 60
MOST_TAGS = 12  # on one label
OWN_TAGS = 200  # that a desk offers
SIMILARITY = 86.0  # from this rapidfuzz ratio (0 to 100) on, two tags count as similar

# The last label of each annotator on an item that was not undone, also if it was sent for relabelling since.
_TAGGED = f"""
SELECT label.item, label.annotator, label.choice, label.reasons, label.tags, label.note
FROM published_item AS item JOIN valid_label AS label ON label.item = item.id
WHERE {OF_PILOTS} AND label.tags <> '[]'
    AND NOT EXISTS (SELECT 1 FROM valid_label AS later WHERE later.item = label.item
                    AND later.annotator = label.annotator AND later.id > label.id)
ORDER BY item.rank, label.annotator
"""


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag: numbers of its labels, items and annotators; `spellings`: the tags that it stands for."""

    text: str
    labels: int
    items: int
    annotators: int
    spellings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaggedLabel:
    """A label with a tag. `annotator` is a row id: the page decides who may see the name."""

    annotator: int
    choice: str
    reasons: tuple[str, ...]
    tags: tuple[str, ...]
    note: str


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return *tags* without surrounding or repeated blanks, each once. Raises Refused for an invalid tag."""
    result = list(dict.fromkeys(unicodedata.normalize("NFC", " ".join(tag.split())) for tag in tags if tag.strip()))
    if len(result) > MOST_TAGS:
        raise Refused(N_("A label cannot have more than {most} tags."), most=MOST_TAGS)
    for tag in result:
        half = any(0xD800 <= ord(character) < 0xE000 for character in tag)
        if len(tag) > LONGEST_TAG or ";" in tag or half or control_character(tag):
            message = N_("A tag is one line of at most {most} characters without a semicolon.")
            raise Refused(message, most=LONGEST_TAG)
    return tuple(result)


def own_tags(store: Store, project: Project, annotator: Annotator) -> list[str]:
    """Return the tags that this annotator has used in the project, most common first: the desk suggests them."""
    query = (
        "SELECT label.tags FROM item INDEXED BY item_pilot JOIN label ON label.item = item.id"
        f" WHERE {OF_PILOTS} AND label.annotator = :annotator AND label.tags <> '[]'"
    )
    rows = store.db.execute(query, {"project": project.id, "annotator": annotator.id})
    counted = Counter(tag for (tags,) in rows for tag in json.loads(tags))
    return sorted(counted, key=lambda tag: (-counted[tag], tag))[:OWN_TAGS]


def count_tags(store: Store, pilot: int) -> tuple[int, int]:
    """Return how many tags the valid labels on items of a pilot (row id) have, and how many different ones."""
    query = (
        "SELECT count(*), count(DISTINCT each.value) FROM published_item AS item"
        " JOIN valid_label AS label ON label.item = item.id, json_each(label.tags) AS each WHERE item.pilot = ?"
    )
    numbers: tuple[int, int] = store.db.execute(query, (pilot,)).fetchone()
    return numbers


def tags(store: Store, project: Project, *, together: bool = False) -> list[Tag]:
    """Return every tag of the project's pilots, most common first.

    Tags of valid labels and of labels sent for relabelling since count. `together`: tags that are probably the same
    (see `similar_tags`) are counted together, under the most common of them.
    """
    rows = store.db.execute(_TAGGED, {"project": project.id}).fetchall()
    single = _count_tags((tag, row[0], row[1]) for row in rows for tag in json.loads(row[4]))
    if not together:
        return single
    first = {text: group for group in similar_tags([tag.text for tag in single]) for text in group}
    spelt = {text: first[text][0] if text in first else text for text in (tag.text for tag in single)}
    # A label with two spellings of a tag counts once.
    merged = _count_tags((tag, row[0], row[1]) for row in rows for tag in {spelt[load] for load in json.loads(row[4])})
    return [replace(tag, spellings=first.get(tag.text, (tag.text,))) for tag in merged]


def _count_tags(borne: Iterable[tuple[str, int, int]]) -> list[Tag]:
    """Count tags, from (tag, item, annotator) of each label."""
    labels, items, people = Counter[str](), dict[str, set[int]](), dict[str, set[int]]()
    for tag, item, annotator in borne:
        labels[tag] += 1
        items.setdefault(tag, set()).add(item)
        people.setdefault(tag, set()).add(annotator)
    result = [Tag(tag, number, len(items[tag]), len(people[tag]), (tag,)) for tag, number in labels.items()]
    return sorted(result, key=lambda tag: (-tag.items, -tag.labels, tag.text))


def items_with_tags(store: Store, project: Project, wanted: Iterable[str]) -> list[tuple[Item, list[TaggedLabel]]]:
    """Return the items with one of the tags *wanted*, each with the labels that have it, in the order of ranks."""
    asked = set(wanted)
    result: dict[int, list[TaggedLabel]] = {}
    for item, annotator, choice, reasons, stored, note in store.db.execute(_TAGGED, {"project": project.id}):
        given = tuple(json.loads(stored))
        if asked & set(given):
            result.setdefault(item, []).append(TaggedLabel(annotator, choice, tuple(json.loads(reasons)), given, note))
    by_id = items_with_ids(store.db, list(result))
    return [(by_id[item], labels) for item, labels in result.items() if item in by_id]


def bare_tag(tag: str) -> str:
    """Return a tag without case, width, blanks and the punctuation at its ends."""
    folded = "".join(unicodedata.normalize("NFKC", tag).casefold().split())
    inside = [place for place, character in enumerate(folded) if unicodedata.category(character)[0] in "LNS"]
    return folded[inside[0] : inside[-1] + 1] if inside else folded


def similar_tags(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Return groups of two or more tags that are probably the same.

    Tags are grouped if they are equal but for case, width and punctuation, or similar in spelling. Groups are in the
    order of *texts*; each lists its first, most common tag first.
    """
    groups: list[list[str]] = []
    for text in texts:
        key = bare_tag(text)
        near = (group for group in groups if _is_similar(key, bare_tag(group[0])))
        group = next(near, None)
        if group is None:
            groups.append([text])
        else:
            group.append(text)
    return [tuple(group) for group in groups if len(group) > 1]


def _is_similar(one: str, other: str) -> bool:
    from rapidfuzz import fuzz

    # A different character makes another word of a short tag, but is a slip in a long one.
    return one == other or (min(len(one), len(other)) > 3 and fuzz.ratio(one, other) >= SIMILARITY)
