"""A run of one published measure: every model, its untrained twin and the control, to a table and a record."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.core.errors import N_, ModelUnavailable, Notice, Refused
from evenhand.core.other_measures.measured_values import Answered, MeasuredValue, control_language, published
from evenhand.core.other_measures.questions import Request, ask
from evenhand.core.other_measures.settings import NO_VARIANT, Settings
from evenhand.core.other_measures.stereotypes import read_crows, read_items, read_writers
from evenhand.core.other_measures.weat import TESTS, built_in_sets, read_sets
from evenhand.core.other_measures.winobias import Twins, built_in, read_twins
from evenhand.core.runs.kinds import JobKind, Place
from evenhand.core.runs.loop import LapTimer, Report, RunProgress, ask_models, check_models, open_table, plain_settings
from evenhand.core.runs.records import target_or_none, write_record
from evenhand.core.typed_json import to_json

COLUMNS = ("model", "role", "item", "part", "text", "score", "signature")

NEEDS_FILE = N_("{measure} needs your own copy of its data set; give the file.")
NO_TEST = N_("Name a test: four sets, X,Y,A,B. The file has: {known}.")
NO_TEXTS = N_("{file} has only ids and no sentences, so no model can be run.")
NO_CONTROL = N_("There are no control pairs in this language.")


@dataclass(frozen=True, slots=True)
class ModelValues:
    """The result of one model: figures of the model, of its untrained twin and of the control."""

    model: str
    signature: str
    untrained_signature: str | None
    figures: tuple[MeasuredValue, ...]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureReport(Report[ModelValues]):
    """The report of a run of a measure. `published`: printed values of the same measure."""

    measure: str
    variant: str
    source: dict[str, object]
    sentences: int
    published: tuple[dict[str, str], ...]
    settings: dict[str, object]


def run(settings: Settings, place: Place) -> MeasureReport:
    """Ask every model. A model that cannot be used is in `failed`; where none can its error is raised.

    Raises Refused, BadFile, ModelUnavailable.
    """
    out, is_run = target_or_none(place.database, "measures", settings.out, settings.run_name)
    request, source = read_request(settings)
    check_models(settings.models)
    rounds = 1 if settings.no_untrained else 2
    notices: list[Notice] = []
    with open_table(out, COLUMNS) as write_row:

        def figures_of(model: str, steps: RunProgress) -> ModelValues:
            lap = LapTimer()
            own = ask(request, model, "model", lambda done: steps(done, message=model))
            twin = None if settings.no_untrained else _twin(request, model, steps, notices)
            roles = {"model": own} if twin is None else {"model": own, "untrained": twin}
            for role, answered in roles.items():
                for row in answered.rows:
                    write_row((model, role, *row, answered.signature))
            steps.finish(rounds * request.texts)
            figures = tuple(figure for answered in roles.values() for figure in answered.figures)
            return ModelValues(model, own.signature, twin.signature if twin else None, figures, round(lap(), 3))

        models = ask_models(settings.models, figures_of, rounds * request.texts, place.progress)
    if settings.measure in ("crows", "aul", "stereoset") and not request.controls:
        notices.append(Notice(NO_CONTROL))
    variant = settings.of_variant
    report = MeasureReport(
        measure=settings.measure, variant=variant, source=source, sentences=len(request.items), models=models.models,
        failed=models.failed, notices=tuple(notices), published=published(settings.measure, variant),
        settings=plain_settings(settings) | {"untrained": not settings.no_untrained}, seconds=models.seconds,
    )  # fmt: skip
    if is_run and out is not None:
        write_record(out, report)
    return report


def _twin(request: Request, model: str, steps: RunProgress, notices: list[Notice]) -> Answered | None:
    """Return what the untrained twin says; None, with a notice, where there is none."""
    try:
        return ask(request, model, "untrained", lambda done: steps(request.texts + done, message=model))
    except ModelUnavailable as error:
        notice = Notice(error.message, error.values)
        notices += [] if notice in notices else [notice]
        return None


def read_request(settings: Settings) -> tuple[Request, dict[str, object]]:
    """Return the items of the measure, and their description for the record. Raises Refused, BadFile."""
    what, variant = settings.what, settings.of_variant
    if settings.file is None and not what.built_in:
        raise Refused(NEEDS_FILE, measure=what.title)
    first = settings.models[0] if settings.models else ""
    items, texts, sets, own = _items(settings, variant)
    language = settings.language.partition("-")[0] or control_language(first, texts)
    pairs = settings.file is not None and settings.measure in ("crows", "aul")
    writers = read_writers(settings.file, settings.bias) if pairs and settings.file is not None else ()
    how = (settings.layer, settings.pooling, settings.device)
    request = Request(settings.measure, variant, items, language, sets, *how, writers)
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    kind = "file" if settings.file is not None else "built-in"
    return request, {"kind": kind, "name": own, "rows": len(items), "sha256": digest}


def _items(settings: Settings, variant: str) -> tuple[Any, tuple[str, ...], dict[str, tuple[str, ...]], str]:
    """Return the items, their texts, the word sets (of WEAT and SEAT), and the name of the set."""
    name = settings.file.name if settings.file is not None else settings.what.built_in
    if settings.measure in ("crows", "aul"):
        assert settings.file is not None
        pairs = read_crows(settings.file, settings.bias)
        return pairs, tuple(text for pair in pairs for text in pair), {}, name
    if settings.measure == "stereoset":
        assert settings.file is not None
        items = read_items(settings.file)
        if not all(item.context and all(item.sentences) for item in items):
            raise Refused(NO_TEXTS, file=name)
        return items, tuple(text for item in items for text in item.sentences), {}, name
    if settings.measure in ("seat", "weat"):
        sets = read_sets(settings.file) if settings.file is not None else built_in_sets()
        tests = _tests(settings, sets)
        words = tuple(word for some in sets.values() for word in some)
        return tests, words, sets, name
    if settings.measure == "pro-anti":
        twins: Sequence[Twins] = read_twins(settings.file) if settings.file is not None else built_in(variant[-1])
        return list(twins), tuple(twin.pro.text for twin in twins), {}, name
    return _association_items(settings)


def _association_items(settings: Settings) -> tuple[Any, tuple[str, ...], dict[str, tuple[str, ...]], str]:
    from evenhand.core.association.corpus import sentences
    from evenhand.core.association.sets import LANGUAGES, association_set

    language: Any = settings.language or control_language(settings.models[0] if settings.models else "", ())
    if language not in LANGUAGES:
        raise Refused(NO_VARIANT, measure=settings.what.title, variant=language, known=", ".join(LANGUAGES))
    corpus = list(sentences(association_set(language)))
    return corpus, tuple(sentence.text for sentence in corpus), {}, f"BEC-Pro {language}" if language != "zh" else "zh"


def _tests(settings: Settings, sets: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the tests by name: the requested ones, else those on gender of the built-in sets, or SEAT's targ1 etc."""
    seat = "targ1,targ2,attr1,attr2"
    shipped = ("career", "math", "science") if settings.file is None else ()
    usual = (seat,) if settings.file is not None and set(seat.split(",")) <= set(sets) else shipped
    wanted = settings.tests or usual
    if not wanted:
        raise Refused(NO_TEST, known=", ".join(sets))
    return {text: TESTS.get(text, text) for text in wanted}


OTHER_MEASURES = JobKind("other-measures", Settings, dict, lambda settings, place: to_json(run(settings, place)))
