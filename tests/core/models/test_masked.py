"""Scoring at masks: equal to a plain forward pass, equal to hand calculation, undefined in words."""

import math
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    AlbertConfig,
    AlbertForMaskedLM,
    DistilBertConfig,
    DistilBertForMaskedLM,
    ElectraConfig,
    ElectraForMaskedLM,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
)

from evenhand.core.errors import Refused
from evenhand.core.models import open_scorer
from evenhand.core.models.loading import load_masked
from evenhand.core.models.masked import MaskedScorer
from evenhand.core.models.probe_tokens import (
    BAD_SPAN,
    EMPTY_OPTION,
    LITERAL_MASK,
    NO_OPTIONS,
    TOO_LONG,
    UNEQUAL_OPTIONS,
    UNKNOWN_OPTION,
    TokenReader,
)
from evenhand.core.resources import keyword_pairs
from evenhand.core.types import MaskedSentence
from tests.support import tiny_models

PEOPLE = ("医生", "护士", "老师", "司机", "经理", "学生", "记者", "工程师", "警察", "教授")
PLACES = ("在医院里", "在家", "昨天", "今天早上", "在学校门口", "周末", "在山下", "下雨时", "2024年", "在A区")
DEEDS = ("写报告", "看书", "喝茶。然后回家", "等车", "说：“好！”", "整理照片", "修理自行车", "唱歌", "跑步", "开会")


pytestmark = pytest.mark.usefixtures("one_thread")


@cache
def opened(name: str, joint: Any = "independent") -> MaskedScorer:
    """Return a built-in model, loaded once for all tests."""
    return open_scorer(name, joint=joint)


def made_sentences(count: int, seed: int) -> list[MaskedSentence]:
    """Return own sentences, put together from parts, with a word of any of the 19 pairs; its stem is the slot."""
    rng = random.Random(seed)
    probes = []
    for _ in range(count):
        pair, side = rng.choice(keyword_pairs()), rng.choice(("male", "female"))
        before = rng.choice(("", "那位" + rng.choice(PEOPLE) + "和"))
        start, end = pair.stem_span(side)
        text = f"{before}{pair.word(side)}{rng.choice(PLACES)}{rng.choice(DEEDS)}。"
        probes.append(MaskedSentence(text, len(before) + start, len(before) + end, pair.stems))
    return probes


def plain(scorer: MaskedScorer, probe: MaskedSentence) -> list[float]:
    """Score the textbook way: the tokenizer reads the text with the mask; one sentence, all logits, full softmax."""
    tokenizer, model = scorer.loaded.tokenizer, scorer.loaded.model
    width = len(tokenizer(probe.options[0], add_special_tokens=False).input_ids)
    masked = probe.text[: probe.start] + tokenizer.mask_token * width + probe.text[probe.end :]
    ids = torch.tensor([tokenizer(masked).input_ids])
    with torch.inference_mode():
        logprobs = model(input_ids=ids).logits[0].double().log_softmax(-1)
    places = (ids[0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()
    options = [tokenizer(option, add_special_tokens=False).input_ids for option in probe.options]
    return [sum(float(logprobs[place, i]) for place, i in zip(places, ids, strict=True)) for ids in options]


@pytest.mark.parametrize("name", ["demo-zh", "random-zh", "known"])
def test_scores_equal_the_plain_forward_pass_on_200_sentences(name: str) -> None:
    scorer = opened(name)
    probes = made_sentences(200, seed=1)
    if name == "known":
        probes = [probe for probe in probes if None not in scorer.score([probe])[0].logprobs]
    worst = 0.0
    for probe, score in zip(probes, scorer.score(probes), strict=True):
        assert score.reason is None
        for logprob, expected in zip(score.logprobs, plain(scorer, probe), strict=True):
            assert logprob is not None
            worst = max(worst, abs(logprob - expected))
    assert len(probes) == 200 and worst < 1e-5


# By hand from the table in the card of `known`: a word of several tokens has the product.
KNOWN = [
    ("他是医生。", 0, 1, ("他", "她"), (0.2, 0.1)),
    ("那个男孩来了", 2, 3, ("男", "女"), (0.05, 0.05)),
    ("爸爸说好", 0, 2, ("爸爸", "妈妈"), (0.02**2, 0.01**2)),
    ("儿子回家", 0, 2, ("儿子", "女儿"), (0.01 * 0.02, 0.05 * 0.01)),
    ("外公看书", 1, 2, ("公", "婆"), (0.01, 0.001)),
    ("姥姥看书", 1, 2, ("爷", "姥"), (0.005, 0.005)),
    ("弟弟", 0, 2, ("弟弟", "妹妹"), (0.001**2, 0.01**2)),
    ("丈夫开门", 0, 2, ("丈夫", "妻子"), (0.005**2, 0.005 * 0.02)),
    ("[MASK]是", 0, 6, ("它", "祂"), (0.02, 0.001)),
]


@pytest.mark.parametrize(("text", "start", "end", "options", "expected"), KNOWN)
def test_scores_of_the_known_model_equal_hand_computation(
    text: str, start: int, end: int, options: tuple[str, ...], expected: tuple[float, ...]
) -> None:
    probe = MaskedSentence(text, start, end, options)
    for joint, root in (("independent", 1), ("sequential", 1), ("geometric_mean", len(options[0]))):
        score = opened("known", joint).score([probe])[0]
        logs = [math.log(p) / root for p in expected]
        assert score.logprobs == pytest.approx(logs, abs=2e-6)
        assert joint in score.signature


def test_fillers_of_the_known_model_are_listed() -> None:
    probe = MaskedSentence("爸爸来了。", 0, 2, ("爸爸", "妈妈"))
    slots = opened("known").fillers(probe, top=3, words=("它", "ta", "祂", "囧"))
    assert len(slots) == 2
    for fillers in slots:
        assert [filler.word for filler in fillers] == ["的", "他", "她", "它", "ta", "祂", "囧"]
        results = [filler.probability for filler in fillers]
        assert results[:4] + results[5:6] == pytest.approx([0.24795, 0.2, 0.1, 0.02, 0.001], abs=1e-6)
        assert results[4] is None and results[6] is None


UNDEFINED = [
    (MaskedSentence("他来了", 0, 1, ("他", "她们")), UNEQUAL_OPTIONS, (False, False)),
    (MaskedSentence("他来了", 0, 1, ("他", "囧")), UNKNOWN_OPTION, (True, False)),
    (MaskedSentence("他来了", 0, 1, ("囧", "囧")), UNKNOWN_OPTION, (False, False)),
    (MaskedSentence("他来了", 0, 1, ("他", "")), EMPTY_OPTION, (False, False)),
    (MaskedSentence("他来了", 0, 1, ("他", "  ")), EMPTY_OPTION, (False, False)),
    (MaskedSentence("他来了", 0, 1, ()), NO_OPTIONS, ()),
    (MaskedSentence("他来了[MASK]", 0, 1, ("他", "她")), LITERAL_MASK, (False, False)),
    (MaskedSentence("[MASK][MASK]", 0, 6, ("他", "她")), LITERAL_MASK, (False, False)),
    (MaskedSentence("他来了", 0, 0, ("他", "她")), BAD_SPAN, (False, False)),
    (MaskedSentence("他来了", 2, 1, ("他", "她")), BAD_SPAN, (False, False)),
    (MaskedSentence("他来了", 3, 4, ("他", "她")), BAD_SPAN, (False, False)),
    (MaskedSentence("他来了", -1, 1, ("他", "她")), BAD_SPAN, (False, False)),
    (MaskedSentence("他来了", 0, 1, ("他", "她"), hidden=((0, 2),)), BAD_SPAN, (False, False)),
    (MaskedSentence("他来了", 0, 1, ("他", "她"), hidden=((2, 9),)), BAD_SPAN, (False, False)),
    (MaskedSentence("他" + "来" * 510, 0, 1, ("他", "她")), TOO_LONG, (False, False)),
]


@pytest.mark.parametrize(("probe", "reason", "defined"), UNDEFINED)
def test_undefined_scores_have_a_reason(probe: MaskedSentence, reason: str, defined: tuple[bool, ...]) -> None:
    neighbour = MaskedSentence("她来了", 0, 1, ("他", "她"))
    scorer = opened("known")
    before, score, after = scorer.score([neighbour, probe, neighbour])
    assert score.reason == reason
    assert tuple(value is not None for value in score.logprobs) == defined
    assert before == after and before.reason is None
    if not any(defined):
        assert scorer.fillers(probe) == []


def test_the_longest_sentence_that_fits_is_scored() -> None:
    fits = MaskedSentence("他" + "来" * 509, 0, 1, ("他", "她"))  # 510 characters, [CLS] and [SEP]
    assert opened("known").score([fits])[0].reason is None


@pytest.mark.parametrize("hostile", ["[SEP]", "[CLS]", "[PAD]", "[UNK]", "<mask>", "\x00", "𝕏", "\u202e"])
def test_special_tokens_in_a_text_are_plain_text(hostile: str) -> None:
    scorer = opened("demo-zh")
    probe = MaskedSentence(f"他说{hostile}很好。", 0, 1, ("他", "她"))
    prepared = scorer.reader.read(probe)
    # One mask, one beginning, one end, in spite of the text.
    tokenizer = scorer.loaded.tokenizer
    assert prepared.ids.count(tokenizer.mask_token_id) == 1
    assert prepared.ids.count(tokenizer.cls_token_id) == prepared.ids.count(tokenizer.sep_token_id) == 1
    assert tokenizer.pad_token_id not in prepared.ids
    assert scorer.score([probe])[0].reason is None


def test_hidden_words_are_masked_too(tmp_path: Path) -> None:
    model = tiny_models.bert(tmp_path)
    scorer = MaskedScorer(load_masked(str(tmp_path)))
    tokenizer = scorer.loaded.tokenizer
    probe = MaskedSentence("今天医生说他很好。", 5, 6, ("他", "她"), hidden=((2, 4), (7, 8)))
    ids = torch.tensor([tokenizer("今天[MASK][MASK]说[MASK]很[MASK]。").input_ids])
    assert scorer.reader.read(probe).ids == tuple(ids[0].tolist())
    with torch.inference_mode():
        expected = model(input_ids=ids).logits[0, 6].log_softmax(-1)
    wanted = [float(expected[tokenizer.convert_tokens_to_ids(word)]) for word in "他她"]
    assert scorer.score([probe])[0].logprobs == pytest.approx(wanted, abs=1e-5)


def test_sequential_scoring_fills_from_left_to_right(tmp_path: Path) -> None:
    model = tiny_models.bert(tmp_path)
    scorer = MaskedScorer(load_masked(str(tmp_path)), joint="sequential")
    tokenizer = scorer.loaded.tokenizer
    probe = MaskedSentence("今天爸爸看书。", 2, 4, ("爸爸", "妈妈"))

    def at(text: str, place: int, word: str) -> float:
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([tokenizer(text).input_ids])).logits[0, place]
        return float(logits.log_softmax(-1)[tokenizer.convert_tokens_to_ids(word)])

    expected = [at("今天[MASK][MASK]看书。", 3, word) + at(f"今天{word}[MASK]看书。", 4, word) for word in ("爸", "妈")]
    scores = scorer.score([probe, MaskedSentence("他看书。", 0, 1, ("他", "她"))])
    assert scores[0].logprobs == pytest.approx(expected, abs=1e-5)
    independent = MaskedScorer(scorer.loaded).score([probe])[0]
    assert independent.logprobs != pytest.approx(expected, abs=1e-3)
    assert scorer.signature != independent.signature


def test_an_unknown_joint_is_refused(tmp_path: Path) -> None:
    tiny_models.bert(tmp_path)
    with pytest.raises(Refused, match="independent"):
        MaskedScorer(load_masked(str(tmp_path)), joint="mean")  # type: ignore[arg-type]


SMALL = {key: tiny_models.SIZES[key] for key in ("vocab_size", "max_position_embeddings", "initializer_range")}
FAMILIES: list[tuple[str, Any]] = [
    ("electra", lambda: ElectraForMaskedLM(ElectraConfig(**tiny_models.SIZES, embedding_size=8))),
    ("albert", lambda: AlbertForMaskedLM(AlbertConfig(**tiny_models.SIZES, embedding_size=8))),
    (
        "distilbert",
        lambda: DistilBertForMaskedLM(DistilBertConfig(**SMALL, dim=16, n_layers=2, n_heads=2, hidden_dim=32)),
    ),
]


@pytest.mark.parametrize(("family", "make"), FAMILIES, ids=[family for family, _ in FAMILIES])
def test_other_architectures_equal_their_plain_pass(family: str, make: Any, tmp_path: Path) -> None:
    torch.manual_seed(2)
    scorer = MaskedScorer(load_masked(str(tiny_models.save(make(), tmp_path))))
    probes = [
        MaskedSentence("今天他说很好。", 2, 3, ("他", "她")),
        MaskedSentence("爸爸去看山和水了，今天很高兴。", 0, 2, ("爸爸", "妈妈")),
        MaskedSentence("女老师", 0, 1, ("男", "女")),
    ]
    for probe, score in zip(probes, scorer.score(probes), strict=True):
        # Rounding of fp32 at these large logits; test_forward.py compares in float64.
        assert score.logprobs == pytest.approx(plain(scorer, probe), abs=5e-5), family


def test_words_of_spaced_tokenizers_are_read_with_their_space(tmp_path: Path) -> None:
    """RoBERTa's mask swallows the space before it, and its words carry that space."""
    size = tiny_models.byte_level_tokenizer(tmp_path)
    torch.manual_seed(3)
    sizes = tiny_models.SIZES | {"vocab_size": size, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    RobertaForMaskedLM(RobertaConfig(**sizes)).save_pretrained(tmp_path)
    scorer = MaskedScorer(load_masked(str(tmp_path)))
    tokenizer = scorer.loaded.tokenizer
    assert scorer.reader.longest == 62  # 64 positions, counted from after the padding id 1
    probe = MaskedSentence("a doctor he is.", 9, 11, ("he", "she"))
    ids = torch.tensor([tokenizer("a doctor <mask> is.").input_ids])
    assert scorer.reader.read(probe).ids == tuple(ids[0].tolist())
    with torch.inference_mode():
        logits = scorer.loaded.model(input_ids=ids).logits[0]
    place = ids[0].tolist().index(tokenizer.mask_token_id)
    expected = logits[place].log_softmax(-1)
    wanted = [float(expected[tokenizer.convert_tokens_to_ids(word)]) for word in ("Ġhe", "Ġshe")]
    assert scorer.score([probe])[0].logprobs == pytest.approx(wanted, abs=1e-5)
    assert scorer.score([MaskedSentence("he <mask>", 0, 2, ("he", "a"))])[0].reason == LITERAL_MASK
    named = scorer.fillers(probe, top=2, words=("he",))[0]
    assert named[-1].probability == pytest.approx(math.exp(wanted[0]), abs=1e-6)
    assert not any(filler.word.startswith("Ġ") for filler in named)


PIECES = ("▁今天", "爸爸", "很好", "▁他", "医生")
IN_PLACE = [
    # the sentence, the slot, its words, the tokens that the model reads, the words' tokens
    ("今天他说很好。", (2, 3), ("他", "她"), ["▁今天", "<mask>", "说", "很好", "。"], [["他"], ["她"]]),
    ("他说很好。", (0, 1), ("他", "她"), ["▁", "<mask>", "说", "很好", "。"], [["他"], ["她"]]),
    ("今天 她说很好。", (3, 4), ("他", "她"), ["▁今天", "▁", "<mask>", "说", "很好", "。"], [["他"], ["她"]]),
    ("今天爸爸说", (2, 4), ("爸爸", "妈妈"), ["▁今天", "<mask>", "<mask>", "说"], [["爸", "爸"], ["妈", "妈"]]),
    ("医生说她", (3, 4), ("他", "她"), ["▁", "医生", "说", "<mask>"], [["他"], ["她"]]),
    ("男医生", (0, 1), ("男", "女"), ["▁", "<mask>", "医生"], [["男"], ["女"]]),
]


@pytest.fixture(scope="module")
def sentence_piece(tmp_path_factory: pytest.TempPathFactory) -> MaskedScorer:
    folder = tmp_path_factory.mktemp("xlm-r")
    size = tiny_models.sentence_piece_tokenizer(folder, pieces=PIECES)
    torch.manual_seed(5)
    sizes = tiny_models.SIZES | {"vocab_size": size, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    XLMRobertaForMaskedLM(XLMRobertaConfig(**sizes)).save_pretrained(folder)
    return MaskedScorer(load_masked(str(folder)))


@pytest.mark.parametrize(("text", "slot", "words", "read", "options"), IN_PLACE)
def test_a_sentence_piece_model_reads_one_mask_per_character(
    sentence_piece: MaskedScorer, text: str, slot: Any, words: Any, read: list[str], options: list[list[str]]
) -> None:
    to_ids = sentence_piece.loaded.tokenizer.convert_tokens_to_ids
    probe = MaskedSentence(text, *slot, words)
    prepared = sentence_piece.reader.read(probe)
    assert prepared.ids == tuple(to_ids(["<s>", *read, "</s>"]))
    assert len(prepared.slots) == len(words[0])
    assert prepared.options == tuple(tuple(to_ids(option)) for option in options)
    with torch.inference_mode():
        logits = sentence_piece.loaded.model(input_ids=torch.tensor([prepared.ids])).logits[0].log_softmax(-1)
    known = [option for option in prepared.options if option]
    wanted = [sum(float(logits[at, i]) for at, i in zip(prepared.slots, option, strict=True)) for option in known]
    score = sentence_piece.score([probe])[0]
    assert score.logprobs == pytest.approx(wanted, abs=1e-5)
    assert score.signature.endswith("|v2")  # what version 1 remembers had a mask too many
    named = sentence_piece.fillers(probe, top=1, words=("她",))
    assert len(named) == len(words[0]) and all(fillers[-1].probability for fillers in named)


def test_a_sentence_piece_word_at_the_beginning_is_one_token(tmp_path: Path) -> None:
    size = tiny_models.sentence_piece_tokenizer(tmp_path, pieces=("▁他", "▁她"))
    assert size
    tokenizer = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    reader = TokenReader(tokenizer, 64)
    ids = tokenizer.convert_tokens_to_ids
    reading = reader.read(MaskedSentence("他说", 0, 1, ("他", "她")))
    assert reading.ids == tuple(ids(["<s>", "<mask>", "说", "</s>"]))
    assert reading.options == ((ids("▁他"),), (ids("▁她"),))
    unknown = reader.read(MaskedSentence("说他", 1, 2, ("他", "囧")))
    assert unknown.options == ((ids("他"),), None) and unknown.reason == UNKNOWN_OPTION


@pytest.fixture(scope="module")
def tiny_scorer(tmp_path_factory: pytest.TempPathFactory) -> MaskedScorer:
    folder = tmp_path_factory.mktemp("tiny")
    tiny_models.bert(folder)
    return MaskedScorer(load_masked(str(folder)))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_answers_do_not_depend_on_the_batch_or_order(
    tiny_scorer: MaskedScorer, lengths: list[int], rng: random.Random
) -> None:
    letters = tiny_models.CHARACTERS
    texts = ["".join(rng.choice(letters) for _ in range(length)) for length in lengths]
    probes = [MaskedSentence(text, at := rng.randrange(len(text)), at + 1, ("他", "她")) for text in texts]
    alone = [tiny_scorer.score([probe])[0].logprobs for probe in probes]
    together = [score.logprobs for score in tiny_scorer.score(probes)]
    order = list(range(len(probes)))
    rng.shuffle(order)
    shuffled = tiny_scorer.score([probes[i] for i in order])
    for i, score in zip(order, shuffled, strict=True):
        assert score.logprobs == pytest.approx(alone[i], abs=1e-4)
        assert together[i] == pytest.approx(alone[i], abs=1e-4)


def test_probabilities_of_all_words_add_up_to_one(tiny_scorer: MaskedScorer) -> None:
    probe = MaskedSentence("他看书。", 0, 1, tuple(tiny_models.CHARACTERS))
    fillers = tiny_scorer.fillers(probe, top=10_000)[0]
    listed = sum(filler.probability or 0 for filler in fillers)
    probabilities = [filler.probability or 0 for filler in fillers]
    assert probabilities == sorted(probabilities, reverse=True)
    assert len(fillers) == len(tiny_models.VOCABULARY) - len(tiny_models.SPECIAL)
    assert 0 < listed <= 1 + 1e-6
    scored = tiny_scorer.score([probe])[0].logprobs
    by_word = {filler.word: filler.probability for filler in fillers}
    assert [by_word[word] for word in tiny_models.CHARACTERS] == pytest.approx(
        [math.exp(p or 0) for p in scored], abs=1e-6
    )


def test_no_probes_give_no_scores(tiny_scorer: MaskedScorer) -> None:
    assert tiny_scorer.score([]) == []
