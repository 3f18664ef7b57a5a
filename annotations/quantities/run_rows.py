"""The quantities of runs with several rows: associations, other measures, before and after, leaks, tuning.

Each entry gives an estimate for each of its rows, by a key such as a class of professions or the role of a model.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from evenhand.annotations.quantities.quantity import Interval, Population, Quantity, Unit
from evenhand.core.errors import N_
from evenhand.core.other_measures.settings import BY_NAME
from evenhand.core.statistics import Estimate, Note

RowsOfRun = Quantity[Any, Mapping[str, Estimate]]
Of = Callable[[Any], Mapping[str, Estimate]]
SENTENCE, ITEM = N_("sentence"), N_("item")
UNDEFINED = Note(N_("No item of this row has a value."))


def _rows(name: str, title: str, words: str, condition: str, each: str, unit: Unit, by: str, of: Of, formula: str,
          interval: Interval | None = None, source: str = "") -> RowsOfRun:  # fmt: skip
    population = Population(name.replace(".", "_"), words, condition)
    return Quantity(f"run.{name}", title, population, each, unit, of, formula, interval, source, by=by)


def _plain(value: float | None) -> Estimate:
    return Estimate.undefined(UNDEFINED) if value is None else Estimate(value)


OVER_PROFESSIONS = Interval(
    N_("t on the jackknife over professions and person words"), "coverage.md#profession-x-person-word"
)
DIFFERENCE = N_("M − W: mean association of male minus that of female person words")


def _association(name: str, title: str, words: str, by: str, of: Of) -> RowsOfRun:
    return _rows(f"association.{name}", title, words, "association is not NaN", SENTENCE, "ln", by, of,
                 "association.md#measures-and-intervals", OVER_PROFESSIONS)  # fmt: skip


def _differences(field: str) -> Of:
    return lambda found: {one.name: one.estimate for one in getattr(found, field)}


ASSOCIATION = (
    _association("mean", N_("Mean association"), N_("scored sentences of a class of professions and a gender of words"),
                 N_("class of professions and gender of person words"),
                 lambda found: {f"{one.kind}/{one.gender}": one.mean for one in found.groups}),
    _association("difference", DIFFERENCE, N_("scored sentences of a class of professions"),
                 N_("class of professions"), _differences("differences")),
    _association("difference_of_two_words", DIFFERENCE,
                 N_("scored sentences of a class of professions, without pairs of one word"),
                 N_("class of professions"), _differences("differences_without_equal_pairs")),
    _association("difference_of_field", DIFFERENCE, N_("scored sentences of a field of professions"),
                 N_("field of professions"), _differences("fields")),
    _association("difference_of_profession", DIFFERENCE, N_("scored sentences of a profession"), N_("profession"),
                 _differences("professions")),
    _rows("association.share_correlation", N_("Correlation of the share of women with M − W"),
          N_("professions with a share of women"), "women is not NaN", N_("profession"), "score",
          N_("Pearson or Spearman"), attrgetter("women_share"), "association.md#measures-and-intervals",
          Interval(N_("Fisher's z over professions"), "coverage.md#not-simulated")),
)  # fmt: skip

ROLE = N_("model, untrained copy or control")
OF_OTHERS = Interval(
    N_("Wilson's, or t on the jackknife over writers, words, terms, people or professions"),
    "other_measures.md#intervals",
)


def _measured(measure: str, name: str, title: str, words: str, each: str, unit: Unit, formula: str, *,
              by: str = ROLE, quantity: str = "", interval: Interval | None = OF_OTHERS) -> RowsOfRun:  # fmt: skip
    """Return the entry of a number of a measure; *quantity* "": of all its tests or classes, which are in the key."""

    def of(figures: Sequence[Any]) -> Mapping[str, Estimate]:
        chosen = [one for one in figures if quantity in ("", one.quantity)]
        return {one.role if quantity else f"{one.quantity}/{one.role}": one.estimate for one in chosen}

    return _rows(f"{measure.replace('-', '_')}.{name}", title, words, "core.other_measures.questions", each, unit, by,
                 of, f"other_measures.md#{formula}", interval, BY_NAME[measure].source)  # fmt: skip


def _chance(measure: str, words: str, each: str, formula: str) -> RowsOfRun:
    """Return the entry of the p-values of a measure."""

    def of(figures: Sequence[Any]) -> Mapping[str, Estimate]:
        return {f"{one.quantity}/{one.role}": Estimate(one.p) for one in figures if one.p is not None}

    return _rows(f"{measure.replace('-', '_')}.p", N_("p of the value by chance alone"), words,
                 "core.other_measures.measured_values", each, "p", N_("number, and model, untrained copy or control"),
                 of, f"other_measures.md#{formula}", source=BY_NAME[measure].source)  # fmt: skip


PAIR_OF_SENTENCES, WORD, TERM, TWINS = N_("pair of sentences"), N_("word"), N_("target term"), N_("pair of twins")
CROWS, AUL = N_("pairs of CrowS-Pairs that the model scores"), N_("pairs that the model scores without masks")
STEREOSET, WINOBIAS = N_("items of StereoSet that the model scores"), N_("twins of WinoBias that the model scores")
SEAT, WEAT = N_("sentences of the word sets of a test"), N_("words of a test with an embedding")
TESTS = N_("test, and model, untrained copy or control")
OTHER_MEASURES: Mapping[str, tuple[RowsOfRun, ...]] = {
    "seat": (
        _measured("seat", "effect", N_("Effect d"), SEAT, WORD, "effect", "seat-and-weat", by=TESTS, interval=None),
        _chance("seat", SEAT, WORD, "seat-and-weat"),
    ),
    "weat": (
        _measured("weat", "effect", N_("Effect d"), WEAT, WORD, "effect", "seat-and-weat", by=TESTS, interval=None),
        _chance("weat", WEAT, WORD, "seat-and-weat"),
    ),
    "crows": (
        _measured("crows", "share", N_("Share of pairs whose more stereotyping sentence scores higher"), CROWS,
                  PAIR_OF_SENTENCES, "percent", "crows-pairs-and-aul", quantity="share"),
        _chance("crows", CROWS, PAIR_OF_SENTENCES, "crows-pairs-and-aul"),
    ),
    "aul": (
        _measured("aul", "share", N_("Share of pairs whose more stereotyping sentence scores higher"), AUL,
                  PAIR_OF_SENTENCES, "percent", "crows-pairs-and-aul", quantity="share"),
        _chance("aul", AUL, PAIR_OF_SENTENCES, "crows-pairs-and-aul"),
    ),
    "stereoset": (
        *(_measured("stereoset", name, title, STEREOSET, TERM, "percent", "stereoset", quantity=name,
                    interval=None if name == "icat" else OF_OTHERS)
          for name, title in (("lms", N_("Language modelling score (lms)")), ("ss", N_("Stereotype score (ss)")),
                              ("icat", N_("Idealised CAT score (icat)")))),
        _chance("stereoset", STEREOSET, TERM, "stereoset"),
    ),
    "lpbs": (
        _measured("lpbs", "difference", N_("LPBS: mean association of female minus that of male words"),
                  N_("scored sentences of all or one class of professions"), SENTENCE, "ln",
                  "lpbs-and-the-proanti-gap", by=N_("class, and model, untrained copy or control")),
    ),
    "pro-anti": (
        *(_measured("pro-anti", name, title, WINOBIAS, TWINS, "percent", "lpbs-and-the-proanti-gap", quantity=name)
          for name, title in (("gap", N_("gap (points)")),
                              ("pro", N_("accuracy, pro-stereotypical")), ("anti", N_("accuracy, anti-stereotypical")),
                              ("they", N_("accuracy with they")))),
        _chance("pro-anti", WINOBIAS, TWINS, "lpbs-and-the-proanti-gap"),
    ),
}  # fmt: skip

OVER_STEMS = Interval(
    N_("over all subsets of word stems, over texts for losses, or over seeds"), "before_after.md#how-often-it-is-right"
)
SHARED = N_("items with a value from every compared model")
HELD_OUT = N_("tokens of the held-out text")
CHANGED = N_("model after or placebo")


def _models(report: Any) -> Iterator[tuple[str, Any]]:
    """Yield every model after and every placebo with its key."""
    for role in ("after", "placebo"):
        yield from ((f"{role}/{one.model}", one) for one in getattr(report, role))


def _changed(name: str, title: str, unit: Unit, field: str) -> RowsOfRun:
    def of(report: Any) -> Mapping[str, Estimate]:
        found = {key: attrgetter(field)(one) for key, one in _models(report) if field[:4] != "cost" or one.cost}
        return {key: one if isinstance(one, Estimate) else _plain(one) for key, one in found.items()}

    words, each = (HELD_OUT, N_("token")) if field.startswith("cost") else (SHARED, ITEM)
    interval = None if field in ("before", "after") else OVER_STEMS
    return _rows(f"change.{name}", title, words, "core.before_after.compare", each, unit, CHANGED, of,
                 "before_after.md#before-and-after", interval)  # fmt: skip


def _parts(report: Any) -> Mapping[str, Estimate]:
    apart = report.left_out
    return {} if apart is None else {"left_out": apart.left_out, "swapped": apart.swapped}


CHANGE = (
    _rows("change.effect", N_("Change in |Bias_c|, with placebos beyond theirs"), SHARED, "core.before_after.compare",
          ITEM, "log10_change", N_("comparison"), lambda report: {"all": report.effect},
          "before_after.md#before-and-after", OVER_STEMS),
    _changed("magnitude_before", N_("magnitude before"), "log10", "before"),
    _changed("magnitude_after", N_("magnitude after"), "log10", "after"),
    _changed("magnitude", N_("change in magnitude"), "log10_change", "size"),
    _changed("shift", N_("shift towards the male word"), "log10_change", "shift"),
    _changed("loss", N_("increase in held-out loss"), "ln", "cost.rise"),
    _changed("accuracy", N_("change in top-1 accuracy"), "points", "cost.guesses"),
    _rows("change.effect_by_swap", N_("Change in |Bias_c|, with placebos beyond theirs"),
          N_("items of pairs that were swapped in training, or left out"), "core.before_after.compare", ITEM,
          "log10_change", N_("pairs left out, or swapped"), _parts, "before_after.md#before-and-after", OVER_STEMS),
)  # fmt: skip
COMPARED_ROWS = {
    "associations": N_("sentences that every run scored"),
    "nli": N_("rows that every run answered"),
    "misgendering": N_("instances with a verdict in every run"),
    "people": N_("generations that people judged blind"),
}


def _compared(kind: str, field: str, title: str) -> RowsOfRun:
    def of(report: Any) -> Mapping[str, Estimate]:
        found = {one.key: getattr(one, field) for one in report.measures}
        return {key: one if isinstance(one, Estimate) else _plain(one) for key, one in found.items()}

    changes = field == "change"
    unit: Unit = "ln" if kind == "associations" else "change" if changes else "score"
    interval = Interval(N_("t over the units of the runs, or over seeds"), "before_after.md#how-often-it-is-right")
    return _rows(f"compared.{kind}.{field}", title, COMPARED_ROWS[kind], "core.before_after.two_runs", ITEM, unit,
                 N_("measure"), of, "before_after.md#finished-runs", interval if changes else None)  # fmt: skip


COMPARED = {
    f"compared {kind}": tuple(
        _compared(kind, field, title)
        for field, title in (("before", N_("Value before")), ("after", N_("Value after")), ("change", N_("Change")))
    )
    for kind in COMPARED_ROWS
}

JUDGED = {
    "extreme": N_("extreme sentences that have all their labels"),
    "control": N_("ordinary sentences that have all their labels"),
    "difference": N_("sentences of an audit that have all their labels"),
}


def _leaks(name: str, title: str, field: str) -> RowsOfRun:
    def of(found: Any) -> Mapping[str, Estimate]:
        return {
            f"{rule}/{one.toward or 'both'}": getattr(one, field) for rule, rows in found.shares.items() for one in rows
        }

    interval = Interval(
        N_("Wilson's, of differences Newcombe's; for labels t on the jackknife over sentences"),
        "coverage.md#leaks-counted-by-labels",
    )
    return _rows(f"leaks.{name}", title, JUDGED[field], "labels >= wanted", N_("sentence, or label"),
                 "points" if field == "difference" else "share", N_("way of counting and direction"), of,
                 "audit.md#audits-of-extremes", interval)  # fmt: skip


def _without_leaks(name: str, title: str) -> RowsOfRun:
    def of(found: Any) -> Mapping[str, Estimate]:
        return {
            f"{rule}/{scope}/{which}": _plain(getattr(getattr(part, which), name))
            for rule, parts in found.measures.items()
            for scope, part in parts.items()
            for which in ("all", "kept")
        }

    return _rows(f"leaks.{name}", title, N_("sentences of a run or of an audit, with or without leaks"),
                 "core.audit.leak_rates", SENTENCE, "log10", N_("way of counting, sentences, all or without leaks"),
                 of, "audit.md#audits-of-extremes")  # fmt: skip


LEAKS = (
    _leaks("extremes", N_("Share of leaks among extremes"), "extreme"),
    _leaks("controls", N_("Share of leaks among ordinary sentences"), "control"),
    _leaks("difference", N_("Share of leaks, extremes minus ordinary sentences"), "difference"),
    _without_leaks("bias_man", N_("Bias_man with and without leaks")),
    _without_leaks("bias_woman", N_("Bias_woman with and without leaks")),
    _without_leaks("model_bias", N_("Model_bias with and without leaks")),
)
TIME = N_("before or after")


def _tuned(name: str, title: str, field: str, unit: Unit) -> RowsOfRun:
    def of(report: Any) -> Mapping[str, Estimate]:
        return {time: Estimate(getattr(found, field), units=found.tokens) for time, found in report.held_out.items()}

    return _rows(f"tune.{name}", title, HELD_OUT, "core.models.tuning", N_("token"), unit, TIME, of,
                 "tune.md#tuning-a-model")  # fmt: skip


TUNE = (
    _tuned("loss", N_("loss on held-out text (−ln p per token)"), "loss", "loss"),
    _tuned("accuracy", N_("top-1 accuracy"), "accuracy", "fine_share"),
    _rows("tune.probe", N_("gender probe accuracy (chance: 50%)"), N_("held-out pairs of sentences"),
          "core.models.tuning", SENTENCE, "fine_share", TIME,
          lambda report: {time: Estimate(found["accuracy"]) for time, found in getattr(report, "probe", {}).items()},
          "tune.md#tuning-a-model"),
)  # fmt: skip
ROWS: Mapping[str, tuple[RowsOfRun, ...]] = {
    "association": ASSOCIATION, "change": CHANGE, "leaks": LEAKS, "tune": TUNE, **OTHER_MEASURES, **COMPARED,
}  # fmt: skip
