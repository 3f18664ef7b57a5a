"""core.sentence_bias: slots, readings, pushes and word lists, with a scorer whose answers are known by hand."""

import itertools
import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.errors import Refused
from evenhand.core.sentence_bias import compare_words as comparing
from evenhand.core.sentence_bias import keyword_packs as packs
from evenhand.core.sentence_bias import model_answer as readings
from evenhand.core.sentence_bias import slot as slots
from evenhand.core.sentence_bias.bias import NO_SLOT
from evenhand.core.sentence_bias.compare_words import MOST, fill, words_around
from evenhand.core.sentence_bias.keyword_packs import LANGUAGES, pack
from evenhand.core.sentence_bias.model_answer import neutral_contexts, neutral_probes
from evenhand.core.types import Filler, MaskedSentence, Score


class ByHand:
    """A scorer with a rule that can be worked out on paper.

    log10 p of the male option is -1 + 0.5 for each visible 将军 - 0.25 for each visible 护士; of the other -1.
    An option with 龘 is undefined, an option with 零 has probability 0. Counts its calls.
    """

    signature = "by-hand|v1"

    def __init__(self, offset: float = 0.0) -> None:
        self.offset, self.calls = offset, 0

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        self.calls += 1
        return [self._one(probe) for probe in probes]

    def _one(self, probe: MaskedSentence) -> Score:
        text = list(probe.text)
        for start, end in probe.hidden:
            text[start:end] = "·" * (end - start)
        seen = "".join(text)
        lean = self.offset + 0.5 * seen.count("将军") - 0.25 * seen.count("护士")
        if any("龘" in option for option in probe.options):
            return Score((None, None), self.signature, "A character is missing from the vocabulary.")
        logs = [(-1 + lean) * math.log(10), -math.log(10)]
        values = [-math.inf if "零" in option else log for option, log in zip(probe.options, logs, strict=True)]
        return Score(tuple(values), self.signature)

    def fillers(self, probe: MaskedSentence, *, top: int = 10, words: Sequence[str] = ()) -> list[list[Filler]]:
        likeliest = [Filler(word, 0.1 / (rank + 1)) for rank, word in enumerate("他她我你谁人这那它大")][:top]
        given = [Filler(word, None if len(word) > 1 else 0.01) for word in words]
        return [[*likeliest, *given] for _ in range(len(probe.options[0]))]


@pytest.fixture(scope="module")
def known():
    from evenhand.core.models import open_scorer

    return open_scorer("known", threads=1)


@pytest.mark.parametrize(
    ("text", "options", "slot", "choices", "name"),
    [
        ("他是一名护士。", None, "他", ("他", "她"), "他/她"),
        ("这个女孩爱画画。", None, "女", ("男", "女"), "男孩/女孩"),
        ("我的姥姥做饭。", None, "姥", ("爷", "姥"), "姥爷/姥姥"),
        ("妈妈在看书。", None, "妈妈", ("爸爸", "妈妈"), "爸爸/妈妈"),
        ("她在弹吉他。", None, "她", ("他", "她"), "他/她"),
        ("[MASK]是一名护士。", ("他", "她"), "[MASK]", ("他", "她"), "他/她"),
        ("[mask]是一名护士。", ("她", "他"), "[mask]", ("他", "她"), "他/她"),
        ("[MASK][MASK]在看书。", ("爸爸", "妈妈"), "[MASK][MASK]", ("爸爸", "妈妈"), "爸爸/妈妈"),
        ("他和妈妈在看书。", ("爸爸", "妈妈"), "妈妈", ("爸爸", "妈妈"), "爸爸/妈妈"),
        ("他和妈妈在看书。", ("她", "他"), "他", ("他", "她"), "他/她"),
        ("甲方先签字。", ("甲", "乙"), "甲", ("甲", "乙"), "甲/乙"),
        ("  他来了。 ", None, "他", ("他", "她"), "他/她"),
    ],
)
def test_the_slot_of_a_sentence_is_found(text, options, slot, choices, name):
    result = slots.find_slot(text, options)
    assert result.text[result.probe.start : result.probe.end] == slot
    assert result.probe.options == choices
    assert result.name == name


def test_the_second_character_of_laolao_is_masked():
    slot = slots.find_slot("我的姥姥做饭。")
    assert (slot.probe.start, slot.probe.end) == (3, 4)
    assert (slot.keyword, slot.counterpart) == ("姥姥", "姥爷")


@pytest.mark.parametrize(
    ("text", "options", "part"),
    [
        ("", None, "Type a sentence"),
        ("   ", None, "Type a sentence"),
        ("今天下雨。", None, ", the sentence contains no keyword of the 19 pairs. Use one"),
        ("我弹吉他。", None, "no keyword"),
        ("他和她在看书。", None, "The sentence contains 2 keywords: 他、她. Keep one, or write"),
        ("他说他来了。", ("他", "她"), "The sentence contains 2 keywords: 他、他. Keep one, or write"),
        ("今天下雨。", ("他", "她"), "The sentence contains neither 他 nor 她 nor"),
        ("今天下雨。", ("甲", "乙"), "The sentence contains neither 甲 nor 乙 nor"),
        ("甲和乙都来。", ("甲", "乙"), "2 positions match: 甲、乙"),
        ("[MASK]来了。", None, "Give the two words"),
        ("[MASK]和[MASK]来了。", ("他", "她"), "2 places are marked"),
        ("[MASK][MASK]来了。", ("他", "她"), "tokens stand for 2 characters, but the words are"),
        ("[MASK]来了。", ("他", "他"), "two different words"),
        ("[MASK]来了。", ("他", " "), "two different words"),
        ("[MASK]来了。", ("[MASK]", "她"), "not [MASK]"),
        ("他来\u202e了。", None, "control character"),
        ("他" + "好" * 512, None, "513 characters"),
    ],
)
def test_a_refusal_names_the_found_words(text, options, part):
    with pytest.raises(Refused) as refusal:
        slots.find_slot(text, options)
    assert part in str(refusal.value)


def test_a_reading_equals_hand_computation():
    reading = readings.read("他是一名将军。", ByHand())
    assert reading.bias_log10 == pytest.approx(0.5)
    assert reading.bias_ln == pytest.approx(0.5 * 2.302585093)
    assert reading.p_male == pytest.approx(10**-0.5)
    assert reading.p_female == pytest.approx(0.1)
    assert reading.pair_mass == pytest.approx(10**-0.5 + 0.1)
    assert not reading.small_mass
    assert reading.signature == "by-hand|v1"
    assert reading.reason is None
    assert len(reading.fillers) == 1
    assert [filler.word for filler in reading.others[0]] == list(packs.OTHER_FORMS)
    assert len(reading.fillers[0]) == 10


# The card of the model `known` gives every token's probability; a word of two masks has the product.
@pytest.mark.parametrize(
    ("text", "options", "p_male", "p_female"),
    [
        ("他是一名护士。", None, 0.2, 0.1),
        ("那个女孩来了。", None, 0.05, 0.05),
        ("妈妈在看书。", None, 0.02 * 0.02, 0.01 * 0.01),
        ("我的姥姥来了。", None, 0.005, 0.005),
        ("父亲在看书。", None, 0.01, 0.02),
        ("[MASK]来了。", ("它", "妳"), 0.02, 0.002),
    ],
)
def test_the_known_model_equals_hand_computation(known, text, options, p_male, p_female):
    reading = readings.read(text, known, options=options)
    assert reading.p_male == pytest.approx(p_male, rel=1e-5)
    assert reading.p_female == pytest.approx(p_female, rel=1e-5)
    assert reading.bias_log10 == pytest.approx(math.log10(p_male / p_female), abs=1e-5)
    assert [filler.word for filler in reading.fillers[0][:3]] == ["的", "他", "她"]
    others = {filler.word: filler.probability for filler in reading.others[0]}
    if reading.slot.male in ("他", "它"):
        assert others["ta"] is None and len(others) == 4
        assert others.get("它", 0.02) == pytest.approx(0.02, rel=1e-5)
    else:
        assert others == {}  # no pronoun fits there
    # Its answers do not depend on the sentence: the prior is everything, and no word pushes.
    if options is None:
        assert reading.corrected_log10 == pytest.approx(0, abs=1e-6)
    assert all(abs(push.change) < 1e-6 for push in comparing.pushes(reading.slot, known))


def test_a_constant_offset_is_only_in_the_prior():
    # docs/methods.md#pair-and-context, planted: a model that leans 0.3 on every sentence must give offset 0.3 and
    # context 0.
    reading = readings.read("她来了。", ByHand(offset=0.3))
    assert reading.bias_log10 == pytest.approx(0.3)
    assert reading.prior.value == pytest.approx(0.3)
    assert reading.corrected_log10 == pytest.approx(0.0)
    assert reading.prior.n == len(neutral_contexts("他/她"))


def test_a_known_prior_is_not_computed_again():
    scorer = ByHand()
    reading = readings.read("他是将军。", scorer, known_prior=readings.Prior(0.2, 12))
    assert scorer.calls == 1
    assert reading.corrected_log10 == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("options", "bias", "part"),
    [
        (("零", "她"), -math.inf, "infinite"),
        (("他", "零"), math.inf, "infinite"),
        (("零", "零零"), None, "probability 0"),
        (("龘", "她"), None, "vocabulary"),
        (("甲", "乙"), 0.0, "no neutral contexts"),
    ],
)
def test_a_missing_corrected_value_has_a_reason(options, bias, part):
    reading = readings.read("[MASK]来了。", ByHand(), options=options)
    assert reading.bias_log10 == (bias if bias is None else pytest.approx(bias))
    assert reading.corrected_log10 is None
    assert part in (reading.corrected_reason or "")


def test_a_pair_mass_under_one_per_cent_is_marked():
    slot = slots.find_slot("他来了。")
    nothing = readings.Prior(None, 0)
    small = readings.ModelAnswer(slot, math.log(0.004), math.log(0.005), nothing, (), (), "s")
    assert small.small_mass
    assert not readings.ModelAnswer(slot, math.log(0.004), math.log(0.006), nothing, (), (), "s").small_mass


WORDS = [word for language in LANGUAGES for word in pack(language).words]


@pytest.mark.parametrize("entry", WORDS, ids=lambda one: f"{one.pair.language}-{one.kind}-{one.pair.name}")
def test_every_pair_has_neutral_contexts_without_other_keywords(entry):
    probes = neutral_probes(entry)
    assert len(probes) >= (12 if entry.pair.language == "zh" else 6)
    for probe in probes:
        # raises if the context has another keyword
        slot = slots.find_slot(probe.text, language=entry.pair.language)
        assert slot.pair.male == entry.pair.male
        assert slot.probe == probe or slot.pair.female != entry.pair.female


def test_pushes_equal_hand_computation():
    slot = slots.find_slot("他是将军，也是护士。")
    scorer = ByHand()
    results = {push.word: push.change for push in comparing.pushes(slot, scorer)}
    assert results["将军"] == pytest.approx(0.5)
    assert results["护士"] == pytest.approx(-0.25)
    assert results["是"] == pytest.approx(0.0)
    assert "，" not in results
    assert scorer.calls == 1


def test_pushes_can_be_computed_by_character():
    slot = slots.find_slot("他是将军。")
    results = [(push.word, push.change) for push in comparing.pushes(slot, ByHand(), unit="character")]
    assert [word for word, _ in results] == ["是", "将", "军"]
    assert [change for _, change in results] == pytest.approx([0.0, 0.5, 0.5])


def test_the_rest_of_the_keyword_is_not_tested_for_a_push():
    slot = slots.find_slot("那个男孩来了。")
    assert "孩" not in "".join(slot.text[slice(*span)] for span in words_around(slot, "character"))


def test_a_push_without_a_finite_ratio_has_a_reason():
    pushes = comparing.pushes(slots.find_slot("[MASK]来了。", ("零", "她")), ByHand())
    assert pushes
    assert all(push.change is None and push.reason for push in pushes)


def test_a_very_long_sentence_measures_the_nearest_words():
    slot = slots.find_slot("好" * 200 + "他" + "好" * 200)
    pushes = comparing.pushes(slot, ByHand(), unit="character")
    measured = [push.span[0] for push in pushes if push.reason is None]
    assert len(pushes) == 400
    assert len(measured) == MOST
    assert min(measured) == 160
    assert max(measured) == 240


@given(st.text("他天将军护士，。 ab1", min_size=1, max_size=40).map(lambda text: "她" + text.replace("他", "")))
def test_pieces_are_ordered_parts_of_the_text_without_the_keyword(text):
    slot = slots.find_slot(text)
    for unit in ("word", "character"):
        spans = words_around(slot, unit)
        assert spans == sorted(spans)
        assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans))
        assert all(start >= slot.word[1] for start, _ in spans)
        covered = "".join(slot.text[start:end] for start, end in spans)
        assert [c for c in covered if c.isalnum()] == [c for c in slot.text[1:] if c.isalnum()]


def test_compared_words_equal_hand_computation():
    rows = comparing.compare_words(
        "他是一名__。", ["护士", "将军", "护士", " ", "她"], {"a": ByHand(), "b": ByHand(0.1)}
    )
    assert [(row.model, row.word) for row in rows] == [(m, w) for m in "ab" for w in ("护士", "将军", "她")]
    values = [row.bias_log10 for row in rows]
    assert values[:2] + values[3:5] == pytest.approx([-0.25, 0.5, -0.15, 0.6])
    assert values[2] is None
    assert "2 keywords" in str(rows[2].reason)
    assert rows[0].sentence == "他是一名护士。"


@pytest.mark.parametrize("template", ["他是__。", "他是____。", "他是＿＿。", "他是{}。"])
def test_the_slot_may_be_typed_in_several_ways(template):
    assert fill(template, r"\1护士") == r"他是\1护士。"


@pytest.mark.parametrize("template", ["他是护士。", "他是__和__。", "他_是。"])
def test_a_template_needs_exactly_one_slot(template):
    with pytest.raises(Refused, match="one place"):
        comparing.compare_words(template, ["护士"], {"a": ByHand()})


def test_no_words_is_refused():
    with pytest.raises(Refused, match="at least one word"):
        comparing.compare_words("他是__。", [" "], {"a": ByHand()})


def test_whole_sentences_have_no_pair_mass() -> None:
    scorer = ByHand()
    scorer.signature = "pair-sum|m|weights:0|sum|fp32|v1"
    reading = readings.read("他来了。", scorer)
    assert reading.p_male is not None
    assert reading.pair_mass is None
    assert reading.mass_reason == NO_SLOT
    assert not reading.small_mass
