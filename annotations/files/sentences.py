"""Rows to sentences: exactly one keyword, at the place in the row or the place found."""

import re
from typing import Any

from evenhand.annotations.files.detect import CANDIDATE, ITEM_KEYS, SLGUSET, SPAN_KEYS, Layout, Usable, bad, origin_of
from evenhand.annotations.items.batch import NewItem
from evenhand.annotations.items.provenance import RUN, run_facts
from evenhand.annotations.types import Item
from evenhand.core.errors import N_
from evenhand.core.files.readers import Row, Source
from evenhand.core.text.keywords import SpanStatus, find, occurrences, repair
from evenhand.core.text.sentences import LONGEST_SENTENCE, control_character
from evenhand.core.types import Candidate, KeywordPair, Side

POSITION = re.compile(r"\s*\[\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\]\s*")


def checked_text(value: Any) -> str:
    """Return *value* as a sentence, unchanged. Raises BadLine: no_text, too_long (over 512), control_characters."""
    if not isinstance(value, str) or not value.strip():
        bad("no_text", N_("The sentence column is empty."))
    if len(value) > LONGEST_SENTENCE:
        message = N_("The sentence has {length} characters; the limit is {limit}.")
        bad("too_long", message, length=len(value), limit=LONGEST_SENTENCE)
    control = control_character(value)
    if control is not None:
        bad("control_characters", N_("The sentence contains a control character: {character}."), character=control)
    return value


def only_keyword(text: str, named: Candidate | None = None) -> Candidate:
    """Return the keyword of *text*.

    A word that the row names counts as one, also in another word (男丁): people chose it.
    """
    candidates = find(text)
    if named is not None:
        candidates = [
            named,
            *(candidate for candidate in candidates if candidate.end <= named.start or named.end <= candidate.start),
        ]
    if not candidates:
        bad("no_keyword", N_("The sentence contains no word of any keyword pair."))
    if len(candidates) > 1:
        message = N_("The sentence contains {count} keywords ({words}); it must contain exactly one.")
        bad(
            "several_keywords",
            message,
            count=len(candidates),
            words=" ".join(candidate.keyword for candidate in candidates[:10]),
        )
    return candidates[0]


def released_row(source: Source, row: Row) -> Usable:
    """Return the item of a row of the released file, its position repaired (docs/methods.md#released-file).

    `Usable.span` says how the published position compared. Raises BadLine, with bad_span if position and keyword
    columns do not lead to the only keyword of the sentence.
    """
    text = checked_text(_exact_text(source, row))
    if len(find(text)) > 1:
        only_keyword(text)
    repaired, status = _released_place(row, text)
    candidate = _word_in(text, repaired)
    extra = {name: value for name, value in row.values.items() if name not in SLGUSET}
    return Usable(NewItem(text=text, candidate=candidate, file=source.name, line=row.line, extra=extra), status)


def released_keyword(source: Source, row: Row) -> Candidate:
    """Return the word that a row of the released file names, for scoring.

    A position that holds the word is taken even if the sentence holds other keywords: the file may have been made with
    other keyword pairs. Raises BadLine as `released_row` does.
    """
    text = checked_text(_exact_text(source, row))
    repaired, status = _released_place(row, text)
    return repaired if status == "ok" else _word_in(text, repaired)


def _released_place(row: Row, text: str) -> tuple[Candidate, SpanStatus]:
    if not occurrences(text):
        only_keyword(text)
    position = POSITION.fullmatch(str(row.values.get(SLGUSET[1], "")))
    if position is None:
        bad("bad_span", N_("The position is not a pair of numbers like [3, 4]."))
    stem, counter_stem = str(row.values.get(SLGUSET[2], "")), str(row.values.get(SLGUSET[3], ""))
    return repair(text, int(position[1]), int(position[2]), stem, counter_stem)


def _word_in(text: str, named: Candidate) -> Candidate:
    """Return *named* as the only keyword of *text*.

    Raises BadLine if a longer word contains it, or there is another.
    """
    places = occurrences(text)
    if named not in places:
        message = N_("The row names the word {named}, but the keyword of the sentence is {found}.")
        bad("bad_span", message, named=named.keyword, found=" ".join(place.keyword for place in places[:10]))
    return only_keyword(text, named)


def _exact_text(source: Source, row: Row) -> Any:
    """Return the sentence of a released row, with its leading apostrophe if the position of the row counts it.

    Earlier releases and copies for spreadsheets put a guarding apostrophe before sentences that begin with = + - @.
    Their positions do not count it.
    """
    text = row.values.get(SLGUSET[0])
    if not row.cells:
        return text
    written = row.cells[source.columns.index(SLGUSET[0])]
    if written == text:
        return text
    position = POSITION.fullmatch(str(row.values.get(SLGUSET[1], "")))
    places = [(candidate.start, candidate.end) for candidate in occurrences(written)]
    return written if position is not None and (int(position[1]), int(position[2])) in places else text


def sentence_row(source: Source, layout: Layout, row: Row) -> Usable:
    """Return the item of a row with a sentence, its keyword found; a row of an export keeps its id, file and line.

    An exported item (a row with an id) may be of a pair that is not built in, or hold further words of built-in pairs;
    its row names the keyword. Raises BadLine, with bad_span if the place in the row is not that of the keyword.
    """
    values = row.values
    text, placed = checked_text(values.get(layout.column)), _is_candidate(values)
    stated = [(values["start"], values["end"], values["keyword"], values["pair"])] if placed else []
    found_here = (
        [(candidate.start, candidate.end, candidate.keyword, candidate.pair.name) for candidate in find(text)]
        if placed
        else []
    )
    if found_here != stated and origin_of(source, row, ITEM_KEYS, ()).uid:
        result = _placed(values, text)
        return _exported(source, layout, row, result, str(values["counterpart"]))
    result = only_keyword(text, _named(values, text) if placed else None)
    if not placed:
        extra = {name: value for name, value in values.items() if name != layout.column}
        return Usable(NewItem(text=text, candidate=result, file=source.name, line=row.line, extra=extra))
    if [values["start"], values["end"], values["keyword"]] != [result.start, result.end, result.keyword]:
        message = N_("The row places {named} at {start} to {end}, but the keyword {found} starts at {true_start}.")
        place = {"start": values["start"], "end": values["end"], "true_start": result.start}
        bad("bad_span", message, named=values["keyword"], found=result.keyword, **place)
    return _exported(source, layout, row, result)


def _exported(source: Source, layout: Layout, row: Row, candidate: Candidate, counterpart: str | None = None) -> Usable:
    origin = origin_of(source, row, ITEM_KEYS, (layout.column, *SPAN_KEYS))
    late = is_flagged(origin.extra)
    item = NewItem(
        candidate.sentence,
        candidate,
        origin.file,
        origin.line,
        origin.extra,
        origin.uid,
        late=late,
        counterpart=counterpart,
    )
    return Usable(item, "ok")


def _named(values: dict[str, Any], text: str) -> Candidate | None:
    """Return the built-in word at the place that the row gives, also inside another word; None if there is none."""
    wanted = (values["start"], values["end"], values["keyword"], values["pair"])
    places = {
        (candidate.start, candidate.end, candidate.keyword, candidate.pair.name): candidate
        for candidate in occurrences(text)
    }
    return places.get(wanted)


def mined_row(source: Source, row: Row) -> Usable:
    """Return the item of a line that `mine` wrote. The line gives the place and the pair of the keyword.

    Flags and source stay with the item; flagged items come last. Raises BadLine, with bad_span if text, word, stem and
    pair do not fit together.
    """
    values = row.values
    text = checked_text(values.get("sentence"))
    if not _is_candidate(values):
        bad("bad_span", N_("Each line of candidates needs four whole numbers: start, end, stem_start and stem_end."))
    candidate = _placed(values, text)
    of_run = {RUN} if run_facts(values.get(RUN)) else set()  # about the whole file, not this sentence
    extra = {key: value for key, value in values.items() if key not in CANDIDATE and key not in of_run}
    late = is_flagged(extra)
    return Usable(NewItem(text, candidate, source.name, row.line, extra, late=late, counterpart=values["counterpart"]))


def _placed(values: dict[str, Any], text: str) -> Candidate:
    """Return the word of *text* that the row names.

    Raises BadLine (bad_span) if text, word, stem and pair do not fit.
    """
    start, end, stem_start, stem_end, keyword, counterpart, name = (values[key] for key in SPAN_KEYS)
    male, slash, female = str(name).partition("/")
    folded = (str(keyword).casefold(), str(counterpart).casefold())  # He, She of he/she at the start of a sentence
    sides: dict[tuple[str, str], Side] = {
        (male.casefold(), female.casefold()): "male",
        (female.casefold(), male.casefold()): "female",
    }
    fits = 0 <= start <= stem_start < stem_end <= end <= len(text) and text[start:end] == keyword
    if not fits or folded not in sides or folded[0] == folded[1] or not (male and slash and female):
        message = N_("Word, stem and pair do not match the sentence: {named} at {start} to {end}, pair {pair}.")
        bad("bad_span", message, named=str(keyword)[:40], start=start, end=end, pair=str(name)[:80])
    side = sides[folded]
    own = (stem_start - start, stem_end - start)
    other = (own[0], max(own[0], len(counterpart) - (len(keyword) - own[1])))
    stems = (own, other) if side == "male" else (other, own)
    return Candidate(text, start, end, stem_start, stem_end, KeywordPair(male, female, *stems), side)


def is_flagged(extra: dict[str, Any]) -> bool:
    """Tell whether mining flagged the sentence: such items come last."""
    flags = extra.get("flags")
    return isinstance(flags, list) and bool(flags)


def stems_of(item: Item) -> tuple[str, str]:
    """Return the stems of the keyword and of its counterpart, which are what differs between them."""
    word, stem, counterpart = item.word or (0, 0), item.stem or (0, 0), item.counterpart or ""
    before, after = stem[0] - word[0], word[1] - stem[1]
    return item.text[slice(*stem)], counterpart[before : len(counterpart) - after]


def _is_candidate(values: dict[str, Any]) -> bool:
    # A span as `mine` and the export write it; other files may have columns named start and end too.
    return all(key in values for key in SPAN_KEYS) and all(type(values[key]) is int for key in SPAN_KEYS[:4])
