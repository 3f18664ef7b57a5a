"""Free tags: words of annotators in a pilot, of which the lead makes criteria."""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items_with_ids
from evenhand.annotations.types import Annotator, Item, Project
from evenhand.core.errors import N_, Refused
from evenhand.core.text.sentences import control_character

LONGEST_TAG = 60
MOST_TAGS = 12  # on one label
OWN_TAGS = 200  # that a desk offers
SIMILARITY = 86.0  # from this rapidfuzz ratio (0 to 100) on, two tags count as similar

# The last label of each annotator on an item that was not undone, also if it was sent for relabelling since.
_TAGGED = """
SELECT label.item, label.annotator, label.choice, label.reasons, label.tags, label.note
FROM published_item AS item JOIN valid_label AS label ON label.item = item.id
WHERE item.pilot IN (SELECT id FROM pilot WHERE project = :project) AND label.tags <> '[]'
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
    """*tags* without surrounding or repeated blanks, each once. Raises Refused for an invalid tag."""
    found = list(dict.fromkeys(unicodedata.normalize("NFC", " ".join(tag.split())) for tag in tags if tag.strip()))
    if len(found) > MOST_TAGS:
        raise Refused(N_("A label has at most {most} tags."), most=MOST_TAGS)
    for tag in found:
        half = any(0xD800 <= ord(character) < 0xE000 for character in tag)
        if len(tag) > LONGEST_TAG or ";" in tag or half or control_character(tag):
            message = N_("A tag is one line of at most {most} characters without a semicolon.")
            raise Refused(message, most=LONGEST_TAG)
    return tuple(found)


def own_tags(store: Store, project: Project, annotator: Annotator) -> list[str]:
    """The tags that this annotator has used in the project, commonest first: the suggestions of the desk."""
    query = (
        "SELECT label.tags FROM item INDEXED BY item_pilot JOIN label ON label.item = item.id"
        " WHERE item.pilot IN (SELECT id FROM pilot WHERE project = ?) AND label.annotator = ? AND label.tags <> '[]'"
    )
    rows = store.db.execute(query, (project.id, annotator.id))
    counted = Counter(tag for (tags,) in rows for tag in json.loads(tags))
    return sorted(counted, key=lambda tag: (-counted[tag], tag))[:OWN_TAGS]


def tags(store: Store, project: Project, *, together: bool = False) -> list[Tag]:
    """Every tag of the project's pilots, commonest first: of valid labels and those sent for relabelling since.

    `together`: tags that are probably one (see `similar_tags`) are counted as one, under the commonest of them.
    """
    rows = store.db.execute(_TAGGED, {"project": project.id}).fetchall()
    single = _count_tags((tag, row[0], row[1]) for row in rows for tag in json.loads(row[4]))
    if not together:
        return single
    first = {text: group for group in similar_tags([tag.text for tag in single]) for text in group}
    spelt = {text: first[text][0] if text in first else text for text in (tag.text for tag in single)}
    # A label with two spellings of a tag counts once.
    merged = _count_tags((tag, row[0], row[1]) for row in rows for tag in {spelt[one] for one in json.loads(row[4])})
    return [replace(tag, spellings=first.get(tag.text, (tag.text,))) for tag in merged]


def _count_tags(borne: Iterable[tuple[str, int, int]]) -> list[Tag]:
    """Tags with their counts, from (tag, item, annotator) of each label."""
    labels, items, people = Counter[str](), dict[str, set[int]](), dict[str, set[int]]()
    for tag, item, annotator in borne:
        labels[tag] += 1
        items.setdefault(tag, set()).add(item)
        people.setdefault(tag, set()).add(annotator)
    found = [Tag(tag, number, len(items[tag]), len(people[tag]), (tag,)) for tag, number in labels.items()]
    return sorted(found, key=lambda tag: (-tag.items, -tag.labels, tag.text))


def items_with_tags(store: Store, project: Project, wanted: Iterable[str]) -> list[tuple[Item, list[TaggedLabel]]]:
    """The items with one of the tags *wanted*, each with those labels, in the order of ranks."""
    asked = set(wanted)
    found: dict[int, list[TaggedLabel]] = {}
    for item, annotator, choice, reasons, stored, note in store.db.execute(_TAGGED, {"project": project.id}):
        given = tuple(json.loads(stored))
        if asked & set(given):
            found.setdefault(item, []).append(TaggedLabel(annotator, choice, tuple(json.loads(reasons)), given, note))
    by_id = items_with_ids(store.db, list(found))
    return [(by_id[item], labels) for item, labels in found.items() if item in by_id]


def bare_tag(tag: str) -> str:
    """A tag without case, width, blanks and the punctuation at its ends."""
    folded = "".join(unicodedata.normalize("NFKC", tag).casefold().split())
    inside = [place for place, character in enumerate(folded) if unicodedata.category(character)[0] in "LNS"]
    return folded[inside[0] : inside[-1] + 1] if inside else folded


def similar_tags(texts: Sequence[str]) -> list[tuple[str, ...]]:
    """Groups of two or more tags that are probably one: equal but for case, width and punctuation, or similar in
    spelling.

    In the order of *texts*; each group names its first, commonest one first.
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
