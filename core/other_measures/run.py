"""A run of one measure of somebody else: every model, its untrained twin and the control, to a table and a record."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.core.errors import N_, ModelUnavailable, Notice, Refused
from evenhand.core.other_measures.asking import Request, ask
from evenhand.core.other_measures.controls import control_language
from evenhand.core.other_measures.crows import read_crows, read_writers
from evenhand.core.other_measures.figures import Figure, published
from evenhand.core.other_measures.measures import BY_NAME, Measure
from evenhand.core.other_measures.stereoset import read_items
from evenhand.core.other_measures.weat import TESTS, built_in_sets, read_sets
from evenhand.core.other_measures.winobias import Twins, built_in, read_twins
from evenhand.core.runs.loop import Laps, RunReport, Steps, Watcher, check_models, made_now, open_table
from evenhand.core.runs.records import write_record

COLUMNS = ("model", "role", "item", "part", "text", "score", "signature")

UNKNOWN = N_("{measure} is no measure here; choose one of {known}.")
NO_VARIANT = N_("{measure} has no variant {variant}; it has: {known}.")
NEEDS_FILE = N_("{measure} needs your copy of its set: give its file.")
NO_TEST = N_("Name a test: four sets, X,Y,A,B. The file has: {known}.")
NO_TEXTS = N_("{file} has no sentences, only ids: a model cannot be asked.")
NO_CONTROL = N_("There are no control pairs in this language.")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run is asked for. `file` None: the set that ships with the app. `tests`: X,Y,A,B, or names of TESTS.

    `bias`: only pairs of this bias_type; `language`: of the set of LPBS and of the frames of SEAT, "" to find out.
    """

    measure: str
    models: tuple[str, ...]
    variant: str = ""
    file: Path | None = None
    bias: str | None = None
    tests: tuple[str, ...] = ()
    language: str = ""
    layer: int = -1
    pooling: str | None = None
    device: str = "auto"
    untrained: bool = True

    @property
    def what(self) -> Measure:
        """The measure. Raises Refused for an unknown one."""
        if self.measure not in BY_NAME:
            raise Refused(UNKNOWN, measure=self.measure, known=", ".join(BY_NAME))
        return BY_NAME[self.measure]

    @property
    def of_variant(self) -> str:
        """The variant: the published one where none is named. Raises Refused."""
        what = self.what
        if self.variant and self.variant not in what.variants:
            raise Refused(NO_VARIANT, measure=what.title, variant=self.variant, known=", ".join(what.variants) or "—")
        return self.variant or (what.variants[0] if what.variants else "")


@dataclass(slots=True)
class Found:
    """What came of one model: figures of the model, of its untrained twin and of the control."""

    model: str
    signature: str
    untrained_signature: str | None
    figures: list[Figure]
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """For the record."""
        return {
            "model": self.model, "signature": self.signature, "untrained_signature": self.untrained_signature,
            "figures": [one.as_json() for one in self.figures], "seconds": round(self.seconds, 3),
        }  # fmt: skip


@dataclass(slots=True)
class OtherReport(RunReport[Found]):
    """What a run did."""

    asked: Asked
    items: int
    source: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Everything that a reader needs to trust the figures or to make them again."""
        one = self.asked
        return {
            "measure": one.measure, "variant": one.of_variant, "source": self.source, "sentences": self.items,
            "models": [found.as_json() for found in self.models], "failed": self.failures, "notices": self.remarks,
            "published": list(published(one.measure, one.of_variant)),
            "settings": {"bias": one.bias, "tests": list(one.tests), "language": one.language, "layer": one.layer,
                         "pooling": one.pooling, "untrained": one.untrained},
            "seconds": round(self.seconds, 3), **made_now(),
        }  # fmt: skip


def run_measure(
    asked: Asked, out: Path | None = None, *, record: bool = False, watch: Watcher | None = None
) -> OtherReport:
    """Ask every model. A model that cannot be used is in `failed`; where none can its error is raised.

    Raises Refused, BadFile, ModelUnavailable.
    """
    request, source = read_request(asked)
    check_models(asked.models)
    report = OtherReport(asked, len(request.items), source)
    rounds = 2 if asked.untrained else 1
    with open_table(out, COLUMNS) as write_row:

        def say(model: str, steps: Steps) -> Found:
            lap = Laps()
            whole = ask(request, model, "model", lambda done: steps(done, message=model))
            twin = None
            if asked.untrained:
                twin = _twin(report, request, model, steps)
            figures = [*whole.figures, *(twin.figures if twin else [])]
            for role, one in (("model", whole), ("untrained", twin)):
                for row in one.rows if one else ():
                    write_row((model, role, *row, one.signature if one else ""))
            steps.finish(rounds * request.texts)
            return Found(model, whole.signature, twin.signature if twin else None, figures, lap())

        report.ask_models(asked.models, say, rounds * request.texts, watch)
    if asked.measure in ("crows", "aul", "stereoset") and not request.controls:
        report.add_notices([Notice(NO_CONTROL)])
    if record and out is not None:
        write_record(out, report.as_json())
    return report


def _twin(report: OtherReport, request: Request, model: str, steps: Steps) -> Any:
    """What the untrained twin says; None with a notice where there is none."""
    try:
        return ask(request, model, "untrained", lambda done: steps(request.texts + done, message=model))
    except ModelUnavailable as error:
        report.add_notices([Notice(error.message, error.values)])
        return None


def read_request(asked: Asked) -> tuple[Request, dict[str, Any]]:
    """The items of the measure, and what they are for the record. Raises Refused, BadFile."""
    what, variant = asked.what, asked.of_variant
    if asked.file is None and not what.built_in:
        raise Refused(NEEDS_FILE, measure=what.title)
    first = asked.models[0] if asked.models else ""
    items, texts, sets, own = _items(asked, variant)
    language = asked.language.partition("-")[0] or control_language(first, texts)
    pairs = asked.file is not None and asked.measure in ("crows", "aul")
    writers = read_writers(asked.file, asked.bias) if pairs and asked.file is not None else ()
    request = Request(asked.measure, variant, items, language, sets, asked.layer, asked.pooling, asked.device, writers)
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    kind = "file" if asked.file is not None else "built-in"
    return request, {"kind": kind, "name": own, "rows": len(items), "sha256": digest}


def _items(asked: Asked, variant: str) -> tuple[Any, tuple[str, ...], dict[str, tuple[str, ...]], str]:
    """The items, their texts, the word sets (of WEAT and SEAT), and the name of the set."""
    name = asked.file.name if asked.file is not None else asked.what.built_in
    if asked.measure in ("crows", "aul"):
        assert asked.file is not None
        pairs = read_crows(asked.file, asked.bias)
        return pairs, tuple(text for pair in pairs for text in pair), {}, name
    if asked.measure == "stereoset":
        assert asked.file is not None
        items = read_items(asked.file)
        if not all(one.context and all(one.sentences) for one in items):
            raise Refused(NO_TEXTS, file=name)
        return items, tuple(text for one in items for text in one.sentences), {}, name
    if asked.measure in ("seat", "weat"):
        sets = read_sets(asked.file) if asked.file is not None else built_in_sets()
        tests = _tests(asked, sets)
        words = tuple(word for some in sets.values() for word in some)
        return tests, words, sets, name
    if asked.measure == "pro-anti":
        twins: Sequence[Twins] = read_twins(asked.file) if asked.file is not None else built_in(variant[-1])
        return list(twins), tuple(one.pro.text for one in twins), {}, name
    return _association_items(asked)


def _association_items(asked: Asked) -> tuple[Any, tuple[str, ...], dict[str, tuple[str, ...]], str]:
    from evenhand.core.association import LANGUAGES, association_set, sentences

    language: Any = asked.language or control_language(asked.models[0] if asked.models else "", ())
    if language not in LANGUAGES:
        raise Refused(NO_VARIANT, measure=asked.what.title, variant=language, known=", ".join(LANGUAGES))
    corpus = list(sentences(association_set(language)))
    return corpus, tuple(one.text for one in corpus), {}, f"BEC-Pro {language}" if language != "zh" else "zh"


def _tests(asked: Asked, sets: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """The tests by name: those asked for, else the ones on gender of the built-in sets, or targ1 and so on of SEAT."""
    seat = "targ1,targ2,attr1,attr2"
    usual = (
        ("career", "math", "science") if asked.file is None else ((seat,) if set(seat.split(",")) <= set(sets) else ())
    )
    wanted = asked.tests or usual
    if not wanted:
        raise Refused(NO_TEST, known=", ".join(sets))
    return {one: TESTS.get(one, one) for one in wanted}
