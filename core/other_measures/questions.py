"""The questions of each measure to a model, its untrained twin and a control, and the resulting figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core.errors import N_
from evenhand.core.other_measures.measured_values import (
    DRAWN,
    Answered,
    ControlPair,
    MeasuredValue,
    Role,
    Watch,
    coin_band,
    coin_p,
    control_pairs,
    drawn_null,
    flipped_null,
    middle,
    percent,
    without_interval,
)
from evenhand.core.other_measures.stereotypes import (
    METHODS,
    NOTHING,
    Item,
    Variant,
    by_term,
    crows_pairs,
    sentence_score,
    word_pair,
)
from evenhand.core.other_measures.weat import names_of, sentences_of, weat, without_direction
from evenhand.core.other_measures.winobias import Sentence, Twins
from evenhand.core.statistics import Estimate, Note, Resampling, wilson
from evenhand.core.statistics.intervals import over_clusters, over_units
from evenhand.core.statistics.resampling import Numbers
from evenhand.core.statistics.units import Clusters

if TYPE_CHECKING:
    from evenhand.core.models.measure_readers import SentenceTokens

AT_ONCE = 64  # texts between two reports of progress

NO_SAMPLE = Note(N_("No interval: the words of a test are chosen, not sampled. See the chance range."))
KINKED = Note(N_("No interval: icat is not differentiable where ss is 50."))
UNREAD = Note(N_("The model could not score any item of this set."))
OF_FEW_WORDS = Note(N_("No interval: the control compares two halves of a few male words."))


@dataclass(frozen=True, slots=True)
class Request:
    """A request to every model: the measure, its variant, the items, and the way a model is read.

    `items`: pairs of sentences, StereoSet items, tests of word sets ({name: X,Y,A,B}), or twins. `language`: of control
    and frames. `writers`: of pairs, "" unknown. `layer`, `pooling`: of SEAT.
    """

    measure: str
    variant: str
    items: Any
    language: str = "en"
    sets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    layer: int = -1
    pooling: Any = None
    device: str = "auto"
    writers: Sequence[str] = ()

    @property
    def texts(self) -> int:
        """The number of items that a model scores, controls included; progress counts these items."""
        if self.measure in ("seat", "weat"):
            return 2 * len(self.items)
        extra = len(self.items) if self.measure == "pro-anti" else self.controls
        return len(self.items) + extra if self.measure != "lpbs" else 2 * len(self.items)

    @property
    def controls(self) -> int:
        """The number of control pairs in the language."""
        return len(control_pairs(self.language)) if self.measure in ("crows", "aul", "stereoset") else 0


def ask(request: Request, model: str, role: Role, watch: Watch) -> Answered:
    """Ask a model ("model", with the control) or its untrained twin ("untrained"). Raises ModelUnavailable, Refused."""
    return ASKED[request.measure](request, model, role, watch)


def _pairs(request: Request, model: str, role: Role, watch: Watch) -> Answered:
    from evenhand.core.models.measure_readers import SentencePairReader

    variant: Variant = "aul" if request.measure == "aul" else request.variant  # type: ignore[assignment]
    reader = SentencePairReader(model, device=request.device, untrained=role == "untrained")
    pairs = Answered(reader.signature(METHODS[variant]))
    read = _in_parts(reader.read, request.items, watch)
    pairs.figures.append(_share(request.items, read, variant, role, request.writers))
    for number, (pair, entry) in enumerate(zip(request.items, read, strict=True), 1):
        scores = [None, None] if entry is None else [sentence_score(side, variant) for side in entry]
        parts = zip(("more", "less"), pair, scores, strict=True)
        pairs.rows += [(number, part, text, score) for part, text, score in parts]
    controls = control_pairs(request.language) if role == "model" else ()
    if controls:
        sentences = [control.sentences for control in controls]
        read = _in_parts(reader.read, sentences, watch, len(request.items))
        pairs.figures.append(_share(sentences, read, variant, "control"))
    return pairs


def _share(
    sentences: Sequence[tuple[str, str]], read: "Sequence[tuple[SentenceTokens, SentenceTokens] | None]",
    variant: Variant, role: Role, writers: Sequence[str] = (),
) -> MeasuredValue:  # fmt: skip
    """Return the share of pairs, with band and p over pairs of words: pairs with he and she are decided together."""
    words = [word_pair(more, less) for more, less in sentences]
    share = crows_pairs(sentences, read, variant, "", writers)
    known = [(word, pair) for word, pair in zip(words, read, strict=True) if pair is not None]
    differences = [sentence_score(more, variant) - sentence_score(less, variant) for _, (more, less) in known]
    units = [word for word, _ in known]
    facts = {"ties": share.ties, "left_out": share.left_out, "size": middle([abs(value) for value in differences])}
    facts |= {"word_pairs": len(set(units))} | ({"writers": len(set(writers))} if any(writers) else {})
    band, p = flipped_null([(value > 0) - (value < 0) for value in differences], units) or (None, None)
    return MeasuredValue("share", role, percent(share.share), 50.0, band, p, facts)


def _in_parts(read: Callable[[Any], list[Any]], items: Sequence[Any], watch: Watch, done: int = 0) -> list[Any]:
    result: list[Any] = []
    for start in range(0, len(items), AT_ONCE):
        result += read(items[start : start + AT_ONCE])
        watch(done + len(result))
    return result


def _stereoset(request: Request, model: str, role: Role, watch: Watch) -> Answered:
    from evenhand.core.models.measure_readers import BlankReader, Filled

    reader = BlankReader(model, device=request.device, untrained=role == "untrained")
    items: Sequence[Item] = request.items
    asked = [
        [Filled(item.context, word, text) for word, text in zip(item.words, item.sentences, strict=True)]
        for item in items
    ]

    def ask_three(part: Sequence[Sequence[Filled]]) -> list[list[Any]]:
        values = reader.read([filled for three in part for filled in three])
        return [values[i : i + 3] for i in range(0, len(values), 3)]

    read = _in_parts(ask_three, asked, watch)
    scores = {i: score for item, row in zip(items, read, strict=True) for i, score in zip(item.ids, row, strict=True)}
    known = [item for item, row in zip(items, read, strict=True) if None not in row]
    stereoset = Answered(reader.signature, stereoset_values(known, scores, role, len(items) - len(known)))
    for number, (item, row) in enumerate(zip(items, read, strict=True), 1):
        parts = zip(("stereotype", "anti-stereotype", "unrelated"), item.sentences, row, strict=True)
        stereoset.rows += [(number, part, text, score) for part, text, score in parts]
    controls = control_pairs(request.language) if role == "model" else ()
    if controls:
        stereoset.figures.append(_blank_control(reader, controls))
        watch(len(items) + len(controls))
    return stereoset


def stereoset_values(
    items: Sequence[Item], scores: Mapping[str, float], role: Role, lost: int = 0
) -> list[MeasuredValue]:
    """Return lms, ss (both with t over target terms) and icat; the null of ss is a coin toss for each item."""
    if not items:
        return [MeasuredValue(name, role, Estimate.undefined(UNREAD)) for name in ("lms", "ss", "icat")]
    terms = by_term(items, scores)
    values = np.array(list(terms.values()))
    counts = np.array([sum(item.target == term for item in items) for term in terms])
    measures = over_units(
        Resampling(), lambda weights: {"lms": _weighted(weights, values[:, 0]), "ss": _weighted(weights, values[:, 1])},
        len(terms), {"lms": (0.0, 100.0), "ss": (0.0, 100.0)},
    )  # fmt: skip
    random = np.random.default_rng(0)
    coins = (100 * random.binomial(counts, 0.5, size=(DRAWN, len(counts))) / counts).mean(axis=1)
    ss, lms = float(values[:, 1].mean()), float(values[:, 0].mean())
    band, p = drawn_null(coins, ss, 50.0)
    facts = {"items": len(items), "terms": len(terms), "left_out": lost}
    icat = without_interval(lms * min(ss, 100 - ss) / 50, len(terms), KINKED)
    return [
        MeasuredValue("lms", role, measures["lms"], None, facts=facts),
        MeasuredValue("ss", role, measures["ss"], 50.0, band, p, facts),
        MeasuredValue("icat", role, icat, None, facts=facts),
    ]


def _weighted(weights: Any, values: Any) -> Any:
    return weights @ values / weights.sum(axis=1)


def _blank_control(reader: Any, controls: Sequence[ControlPair]) -> MeasuredValue:
    from evenhand.core.models.measure_readers import Filled

    asked = [
        Filled(control.context, word, text)
        for control in controls
        for word, text in zip(control.words, control.sentences, strict=True)
    ]
    read = reader.read(asked)
    pairs = [(a, b) for a, b in zip(read[::2], read[1::2], strict=True) if a is not None and b is not None]
    higher = sum(a > b for a, b in pairs)
    share = percent(wilson(higher, len(pairs), nothing=NOTHING))
    facts = {"items": len(pairs), "left_out": len(controls) - len(pairs)}
    return MeasuredValue("ss", "control", share, 50.0, coin_band(len(pairs)), coin_p(higher, len(pairs)), facts)


def _vectors(request: Request, model: str, role: Role, watch: Watch) -> Answered:
    from evenhand.core.models.measure_readers import VectorReader

    reader = VectorReader(
        model, layer=request.layer, pooling=request.pooling, device=request.device, untrained=role == "untrained"
    )
    result, by_sentence = Answered(reader.signature(request.measure)), request.measure == "seat"
    tests: dict[str, str] = dict(request.items)
    names = [name for test in tests.values() for name in names_of(test, request.sets)]
    words = list(dict.fromkeys(word for name in names for word in request.sets[name]))
    texts = {word: sentences_of(word, request.language) for word in words} if by_sentence else None
    vectors = reader.sentences([text for some in texts.values() for text in some]) if texts else reader.words(words)
    for number, (name, test) in enumerate(tests.items(), 1):
        four = names_of(test, request.sets)
        own = {text: request.sets[text] for text in four}
        pairs: list[tuple[Role, Mapping[str, Sequence[str]]]] = [(role, own)]
        if role == "model":
            pairs.append(("control", without_direction(four, own)))
        for which, sets in pairs:
            weat_test = weat(test, sets, vectors, texts=texts, by_word=request.variant == "words")
            lacking = sum(len(some) for some in weat_test.missing.values())
            facts = {
                "sizes": list(weat_test.sizes),
                "missing": lacking,
                "exact": weat_test.exact,
                "partitions": weat_test.partitions,
                "p_greater": weat_test.p_greater,
            }
            estimate = Estimate(
                weat_test.effect, units=sum(weat_test.sizes[:2]), reason=weat_test.effect_reason, note=NO_SAMPLE
            )
            result.figures.append(MeasuredValue(name, which, estimate, 0.0, weat_test.band, weat_test.p, facts))
            result.rows.append((number, which, test, weat_test.effect))
        watch(2 * number)
    return result


def _lpbs(request: Request, model: str, role: Role, watch: Watch) -> Answered:
    from evenhand.core.association.measures import difference, frame_of
    from evenhand.core.association.run import associate
    from evenhand.core.models.loading import load_masked
    from evenhand.core.models.masked import TargetScorer

    scorer = TargetScorer(load_masked(model, device=request.device, untrained=role == "untrained"))
    rows = associate(request.items, scorer, model=model, progress=lambda done, _total: watch(done))
    frame = frame_of(rows)
    lpbs = Answered(scorer.signature)
    for kind in ("all", "female", "balanced", "male"):
        some = frame if kind == "all" else frame[frame["class"] == kind]
        if len(some):
            estimate = _turned(difference(some).estimate)
            lpbs.figures.append(MeasuredValue(kind, role, estimate, 0.0, facts={"sentences": len(some)}))
    if role == "model":
        men = frame[frame["person_gender"] == "male"]
        words = list(dict.fromkeys(men["person_key"]))
        means = [men[men["person_key"].isin(half)]["association"].mean() for half in (words[::2], words[1::2])]
        estimate = without_interval(float(means[0] - means[1]), len(words), OF_FEW_WORDS)
        lpbs.figures.append(MeasuredValue("all", "control", estimate, 0.0, facts={"sentences": len(men)}))
    lpbs.rows = [(row.row, row.sentence.person.gender, row.sentence.text, row.value) for row in rows]
    return lpbs


def _turned(estimate: Estimate) -> Estimate:
    """Turn male minus female into female minus male."""
    if estimate.value is None:
        return estimate
    low, high = (None if end is None else -end for end in (estimate.high, estimate.low))
    return replace(estimate, value=-estimate.value, low=low, high=high)


def _pro_anti(request: Request, model: str, role: Role, watch: Watch) -> Answered:
    scorer = _whole_sentences(model, request.device, role == "untrained")
    twins: Sequence[Twins] = request.items
    both = _in_parts(lambda part: _right(scorer, part), twins, watch)
    pro_anti = Answered(scorer.signature, gap_values(twins, [(pro, anti) for (pro, _), (anti, _) in both], role))
    for number, (twin, row) in enumerate(zip(twins, both, strict=True), 1):
        pro_anti.rows += [
            (number, part, sentence.text, value)
            for part, sentence, (_, value) in zip(("pro", "anti"), (twin.pro, twin.anti), row, strict=True)
        ]
    if role == "model":
        neutral = _in_parts(
            lambda part: _decisions(scorer, [entry.neutral for entry in part]), twins, watch, len(twins)
        )
        right = [one for one, _ in neutral if one is not None]
        share = percent(wilson(sum(right), len(right), nothing=UNREAD))
        pro_anti.figures.append(MeasuredValue("they", "control", share, 50.0, coin_band(len(right))))
    return pro_anti


def _whole_sentences(model: str, device: str, untrained: bool) -> Any:
    """Return a scorer of sentences with names of several tokens: pair-sum of a causal model, pll of a masked one."""
    from evenhand.core.models.loading import load_model, task_of
    from evenhand.core.models.whole_sentences import PairSumScorer, PllScorer

    task = task_of(model)
    make = PairSumScorer if task == "causal" else PllScorer
    return make(load_model(model, task, device=device, untrained=untrained))


def _right(scorer: Any, twins: Sequence[Twins]) -> list[tuple[Any, Any]]:
    result = _decisions(scorer, [sentence for pair in twins for sentence in (pair.pro, pair.anti)])
    return list(zip(result[::2], result[1::2], strict=True))


def _decisions(scorer: Any, sentences: Sequence[Sentence]) -> list[tuple[bool | None, float | None]]:
    """Return per sentence if the right person is more likely, and ln P(right) - ln P(other); None where unscored."""
    decisions: list[tuple[bool | None, float | None]] = []
    for score in scorer.score([sentence.probe for sentence in sentences]):
        right, other = score.logprobs
        decisions.append((None, None) if right is None or other is None else (right > other, right - other))
    return decisions


def gap_values(
    twins: Sequence[Twins], right: Sequence[tuple[bool | None, bool | None]], role: Role
) -> list[MeasuredValue]:
    """Return the right shares of both sets and their gap in points, with t over people (meant one, other one)."""
    known = [
        (twin, bool(a), bool(b)) for twin, (a, b) in zip(twins, right, strict=True) if a is not None and b is not None
    ]
    if not known:
        return [MeasuredValue(name, role, Estimate.undefined(UNREAD), 0.0) for name in ("gap", "pro", "anti")]
    columns = np.array([[a, b, 1.0] for _, a, b in known], dtype=float)
    people = [list(dict.fromkeys(getattr(one.pro, side) for one, *_ in known)) for side in ("right", "wrong")]
    codes = tuple(
        np.array([names.index(getattr(one.pro, side)) for one, *_ in known])
        for names, side in zip(people, ("right", "wrong"), strict=True)
    )
    clusters = over_clusters(_gap_of, columns, Clusters(("right", "wrong"), codes))
    differences = columns[:, 0] - columns[:, 1]
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(DRAWN, len(known)))
    band, p = drawn_null(100 * (signs @ differences) / len(known), 100 * float(differences.mean()), 0.0)
    facts = {"twins": len(known), "left_out": len(twins) - len(known)}
    facts |= {"unlike": sum(not one.alike for one, *_ in known)}
    sums = {name: int(columns[:, i].sum()) for i, name in enumerate(("pro", "anti"))}
    shares = {name: percent(wilson(count, len(known), nothing=UNREAD)) for name, count in sums.items()}
    return [
        MeasuredValue("gap", role, clusters["gap"], 0.0, band, p, facts),
        *(MeasuredValue(name, role, share, 50.0, coin_band(len(known)), facts=facts) for name, share in shares.items()),
    ]


def _gap_of(sums: Numbers) -> dict[str, Numbers]:
    return {"gap": 100 * (sums[:, 0] - sums[:, 1]) / sums[:, 2]}


ASKED: dict[str, Callable[[Request, str, Role, Watch], Answered]] = {
    "crows": _pairs, "aul": _pairs, "stereoset": _stereoset, "seat": _vectors, "weat": _vectors, "lpbs": _lpbs,
    "pro-anti": _pro_anti,
}  # fmt: skip
