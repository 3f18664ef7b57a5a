"""Input for scoring: the released file, mined candidates, any table of sentences, a project. Bad rows are passed on."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import SPAN_KEYS, Layout, bad, detect_layout
from evenhand.annotations.files.import_items import read_row, sentence_of
from evenhand.annotations.files.sentences import checked_text, released_keyword, stems_of
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import named_project
from evenhand.annotations.types import Item
from evenhand.core.errors import N_, BadFile, BadLine, Refused
from evenhand.core.files.display_paths import origin
from evenhand.core.files.readers import Row, Source, file_sha256, open_source, rows
from evenhand.core.runs.kinds import JobKind, Place
from evenhand.core.runs.records import TABLE, runs_folder
from evenhand.core.scoring.report import ScoringReport
from evenhand.core.scoring.rows import ScoreItem, item_of
from evenhand.core.scoring.run import score_input
from evenhand.core.scoring.settings import ScoreInput, Settings
from evenhand.core.sentence_bias.find_words import find_words, language_of
from evenhand.core.sentence_bias.keyword_packs import Pack, PackWord, pack, read_words
from evenhand.core.sentence_bias.slot import slot_of
from evenhand.core.text.sentences import CHUNK
from evenhand.core.types import Candidate, KeywordPair, Side

PROJECT = "project:"  # prefix of a project in place of a file

BAD_PLACE = N_("The position of the keyword does not fit: the text from {start} to {end} is not {keyword}.")
BAD_PAIR = N_("{keyword} and {counterpart} are not the two words of {pair}, or differ outside the masked part.")


@dataclass(frozen=True, slots=True)
class InputOptions:
    """Settings for reading sentences without the place of their word.

    `language`: of the sentences; None: it is recognised in each. `own`: the user's own words (`keyword_packs`).
    """

    language: str | None = None
    own: tuple[PackWord, ...] = ()


def file_input(path: Path | str, *, column: str | None = None, reading: InputOptions | None = None) -> ScoreInput:
    """Return the sentences of a file: CSV, TSV, JSON lines or text, UTF-8 or GB18030.

    The format is recognised by its columns. Lines of mined candidates give the place of their word, so any pair can be
    scored; in other files a sentence must hold exactly one word of its language's keyword pack (Chinese: the 19 pairs).
    Raises BadFile if the file cannot be read or holds no sentences; a bad line is an item with its problem.
    """
    source = open_source(path)
    chosen = detect_layout(source, "auto", column)
    if chosen.format == "generations":
        message = N_("{file} holds generations. Choose the column of sentences to score (--column NAME).")
        raise BadFile(message, file=source.name)
    has_places = source.shape == "jsonl" and set(SPAN_KEYS) <= set(source.columns)
    format = "candidates" if has_places else chosen.format
    count = sum(1 for _ in rows(source))
    if not count:
        raise BadFile(N_("{file} has no rows to score."), file=source.name)

    def items_of_file() -> Iterator[ScoreItem]:
        for number, row in enumerate(rows(source), 1):
            try:
                yield _file_item(source, chosen, row, number, reading or InputOptions())
            except BadLine as error:
                text = sentence_of(chosen, row)[:CHUNK]
                yield ScoreItem(number, text, problem=str(error), reason=error.reason, source=origin(row.values))

    return ScoreInput("file", source.name, format, count, file_sha256(source.path), items_of_file)


def _file_item(source: Source, chosen: Layout, row: Row, number: int, reading: InputOptions) -> ScoreItem:
    named = origin(row.values)
    placed = [type(row.values.get(key)) for key in SPAN_KEYS] == [int] * 4 + [str] * (len(SPAN_KEYS) - 4)
    if row.problem is None and placed:
        return item_of(number, _placed(row.values, chosen.column), named)
    if row.problem is None and chosen.format == "slguset":
        return item_of(number, released_keyword(source, row), named)
    if row.problem is None and chosen.format == "sentences":
        text = checked_text(row.values.get(chosen.column))
        language = reading.language or language_of(text, reading.own)
        if language != "zh" or any(pack_word.pair.language == "zh" for pack_word in reading.own):
            return _of_pack(number, text, pack(language, reading.own), named)
    candidate = read_row(source, chosen, row).item.candidate
    if candidate is None:  # only generations have none, and they are refused above
        bad("no_keyword", N_("The sentence contains no word of any keyword pair."))
    return item_of(number, candidate, named)


def _of_pack(number: int, text: str, words: Pack, named: str) -> ScoreItem:
    """Return the row of a sentence with exactly one word of a keyword pack. Raises BadLine for none or several."""
    found_words = find_words(text, words)
    if not found_words:
        bad("no_keyword", N_("The sentence contains no word of any keyword pair."))
    if len(found_words) > 1:
        message = N_("The sentence contains {count} keywords ({words}); it must contain exactly one.")
        several = " ".join(text[found_word.start : found_word.end] for found_word in found_words[:10])
        bad("several_keywords", message, count=len(found_words), words=several)
    slot = slot_of(text, found_words[0], words)
    pair, probe = found_words[0].word.pair, slot.probe
    spans = (*slot.word, probe.start, probe.end)
    return ScoreItem(
        number, text, *spans, pair.name, found_words[0].side, text[slice(*slot.word)], probe.options, named,
        agreeing=probe.agreeing,
    )  # fmt: skip


def _placed(values: dict[str, Any], column: str) -> Candidate:
    """Return the candidate of a line that gives the place of its word. Raises BadLine for an invalid place."""
    text = checked_text(values.get(column))
    start, end, first, last, keyword, counterpart, pair = (values[key] for key in SPAN_KEYS)
    if not 0 <= start <= first < last <= end <= len(text) or text[start:end] != keyword:
        bad("bad_span", BAD_PLACE, keyword=keyword, start=start, end=end)
    before, after = first - start, end - last
    stop = len(counterpart) - after
    own, other = (before, len(keyword) - after), (before, stop)
    same = keyword[:before] == counterpart[:before] and keyword[own[1] :] == counterpart[stop:]
    if not same or before >= stop or pair not in (f"{keyword}/{counterpart}", f"{counterpart}/{keyword}"):
        bad("bad_span", BAD_PAIR, keyword=keyword, counterpart=counterpart, pair=pair)
    side: Side = "male" if pair.startswith(f"{keyword}/") else "female"
    if side == "male":
        words = KeywordPair(keyword, counterpart, own, other)
    else:
        words = KeywordPair(counterpart, keyword, other, own)
    return Candidate(text, start, end, first, last, words, side)


def project_input(store: Store, named: str, *, uid: str | None = None, kept: bool = False) -> ScoreInput:
    """Return the published items of a project, in the order of import; with *kept* only accepted ones.

    Raises NotFound for an unknown project, and Refused for generations or a project without such items.
    """
    project = named_project(store, named, uid)
    if project.kind != "sentences":
        message = N_("{project} holds generations. Only sentences with a keyword can be scored.")
        raise Refused(message, project=project.name)
    count, digest = 0, hashlib.sha256()
    for item in items(store, project, accepted_only=kept):
        digest.update(f"{item.word}\0{item.pair}\0{item.text}\n".encode("utf-8", "surrogatepass"))
        count += 1
    if not count:
        message = N_("{project} has no accepted sentences yet.") if kept else N_("{project} holds no sentences yet.")
        raise Refused(message, project=project.name)
    path = store.path

    def items_of_project() -> Iterator[ScoreItem]:
        with Store.open(path) as own:  # its own connection: the run may take hours
            for number, item in enumerate(items(own, project, accepted_only=kept), 1):
                yield _project_item(number, item)

    return ScoreInput("project", project.name, "project", count, digest.hexdigest(), items_of_project)


def _project_item(number: int, item: Item) -> ScoreItem:
    named = origin(item.extra)
    if item.word is None or item.stem is None or item.side == "":
        message = N_("The sentence contains no word of any keyword pair.")
        return ScoreItem(number, item.text, problem=message, reason="no_keyword", source=named)
    own, other = stems_of(item)
    options = (own, other) if item.side == "male" else (other, own)
    spans = (*item.word, *item.stem)
    return ScoreItem(number, item.text, *spans, item.pair, item.side, item.keyword or "", options, named)


def open_input(
    named: str,
    *,
    db: Path | str,
    column: str | None = None,
    uid: str | None = None,
    reading: InputOptions | None = None,
    kept: bool = False,
) -> ScoreInput:
    """Return a file, or with "project:NAME" a project of the database *db*, or its *kept* items only.

    Raises NotFound, BadFile, Refused.
    """
    if not named.startswith(PROJECT):
        return file_input(named, column=column, reading=reading)
    with Store.open_existing(db) as store:
        return project_input(store, named.removeprefix(PROJECT), uid=uid, kept=kept)


def score(settings: Settings, place: Place) -> ScoringReport:
    """Score the file or project that *settings* name, see `score_input`. Raises NotFound, BadFile, Refused."""
    own = read_words(settings.words, settings.language) if settings.words else ()
    source = open_input(
        settings.file, db=place.database, column=settings.column, uid=settings.uid,
        reading=InputOptions(settings.language, own), kept=settings.items == "accepted",
    )  # fmt: skip
    return score_input(source, settings, place)


SCORING = JobKind(
    "score",
    Settings,
    ScoringReport,
    score,
    lambda report: report.scored_rows.notices,
    resuming=N_("Nothing is lost: finished scores are in the cache."),
    partial_file=lambda settings, database: runs_folder(database, "scores") / f"{settings.run_name}{TABLE}",
)
