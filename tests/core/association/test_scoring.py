"""Targets and priors under real architectures and tokenizers, against the library's own arithmetic; a planted model."""

import math
from pathlib import Path

import pytest
import torch
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    AlbertConfig,
    AlbertForMaskedLM,
    BertConfig,
    BertForMaskedLM,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
)

from evenhand.core.association import run
from evenhand.core.association.corpus import sentences
from evenhand.core.association.measures import differences, frame_of, groups
from evenhand.core.association.run import NO_PRIOR, NO_TARGET, OK, Tally, associate, association
from evenhand.core.association.sets import Choices, association_set
from evenhand.core.errors import ModelUnavailable
from evenhand.core.models.masked import open_targets
from evenhand.core.models.planted.masked import planted_association
from evenhand.core.types import Score

LISTS = {
    "templates": "template\n{person} is a {profession}.\n{person}, the {profession}, sings.\n",
    "persons": "person\tgender\tdeterminer\tpair\nhe\tmale\t\ta\nbrother\tmale\tmy\tb\n"
    "she\tfemale\t\ta\nsister\tfemale\tmy\tb\n",
    "professions": "profession\tclass\nnurse\tfemale\nspeech-language teacher\tfemale\nsteel worker\tmale\n",
}
CHINESE = {
    "templates": "template\n{person}是{profession}。\n",
    "persons": "person\tgender\tpair\n他\tmale\ta\n爸爸\tmale\tb\n她\tfemale\ta\n妈妈\tfemale\tb\n",
    "professions": "profession\n护士\n老师\n医生\n",
}


def corpus_of(folder: Path, lists=LISTS):
    paths = {}
    for part, text in lists.items():
        paths[part] = folder / f"{part}.tsv"
        paths[part].write_text(text, encoding="utf-8")
    return list(sentences(association_set("en", Choices(**paths))))


SPECIAL = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
SIZE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
        "max_position_embeddings": 80, "initializer_range": 0.5, "pad_token_id": 0}  # fmt: skip


def _tokenizer(kind: str, texts: list[str]) -> PreTrainedTokenizerFast:
    mask = AddedToken("[MASK]", lstrip=kind in ("bpe", "unigram"), special=True)
    names = [*SPECIAL.values(), mask]
    if kind == "wordpiece":
        backend = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        backend.normalizer, backend.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.BertPreTokenizer()
        backend.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=58, special_tokens=names))
    elif kind == "bpe":
        backend = Tokenizer(models.BPE(unk_token="[UNK]"))
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        backend.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=70, special_tokens=names))
    elif kind == "unigram":
        backend = Tokenizer(models.Unigram())
        backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
        trainer = trainers.UnigramTrainer(vocab_size=44, special_tokens=names, unk_token="[UNK]")
        # "brother" is not among the words that it learns, so it is cut.
        backend.train_from_iterator([text.replace("brother", "b r o t h e r") for text in texts], trainer)
    else:
        words = dict.fromkeys([*SPECIAL.values(), "[MASK]", *"".join(texts)])
        backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
        backend.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    ends = [(token, backend.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    backend.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return PreTrainedTokenizerFast(tokenizer_object=backend, mask_token=mask, **SPECIAL)


def checkpoint(folder: Path, kind: str, texts: list[str]) -> Path:
    torch.manual_seed(3)
    tokenizer = _tokenizer(kind, texts)
    size = SIZE | {"vocab_size": len(tokenizer)}
    if kind == "bpe":
        model = RobertaForMaskedLM(RobertaConfig(**size))
    elif kind == "unigram":
        model = AlbertForMaskedLM(AlbertConfig(**size, embedding_size=16))
    else:
        model = BertForMaskedLM(BertConfig(**size))
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def ids_at(tokenizer, text: str, span) -> list[int]:
    """Return the ids of a part of a text as tokenised in the whole text, with a space that the mask swallows."""
    whole = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    start, end = span
    swallows = tokenizer.added_tokens_decoder[tokenizer.mask_token_id].lstrip
    start -= bool(swallows and start and text[start - 1] == " ")
    places = zip(whole["input_ids"], whole["offset_mapping"], strict=True)
    return [i for i, (a, b) in places if b > start and a < end and b > a]


def reference(scorer, one, *, words: int) -> tuple[float, float]:
    """Return ln P(target) and ln P(prior) from the library alone: text with literal masks, whole, one by one."""
    tokenizer, model = scorer.loaded.tokenizer, scorer.loaded.model
    mask = tokenizer.mask_token
    target = ids_at(tokenizer, one.text, one.person_at)
    results = []
    for hide in (False, True):
        spans = [(one.person_at, len(target)), *([(span, 1) for span in one.words_at] if hide else [])]
        text = one.text
        for (a, b), count in sorted(spans, reverse=True):
            text = text[:a] + mask * count + text[b:]
        encoded = tokenizer(text, return_tensors="pt")["input_ids"]
        places = (encoded[0] == tokenizer.mask_token_id).nonzero().ravel()[: len(target)]
        assert int((encoded == tokenizer.mask_token_id).sum()) == len(target) + (words if hide else 0)
        with torch.no_grad():
            logps = torch.log_softmax(model(encoded).logits[0].double(), dim=-1)
        results.append(float(sum(logps[place, i] for place, i in zip(places, target, strict=True))))
    return results[0], results[1]


@pytest.mark.parametrize("kind", ["wordpiece", "bpe", "unigram", "character"])
def test_associations_equal_those_of_transformers(tmp_path, kind):
    corpus = corpus_of(tmp_path, CHINESE if kind == "character" else LISTS)
    folder = checkpoint(tmp_path / "model", kind, [sentence.text for sentence in corpus])
    scorer = open_targets(str(folder), threads=1)
    result = associate(corpus, scorer, model="tiny")
    assert {entry.status for entry in result} == {OK}
    assert max(entry.pieces for entry in result) > 1  # words of several pieces are among them
    for row in result:
        target, prior = reference(scorer, row.sentence, words=len(row.sentence.words_at))
        assert row.logp_target == pytest.approx(target, abs=1e-4)
        assert row.logp_prior == pytest.approx(prior, abs=1e-4)
        assert row.value == pytest.approx(target - prior, abs=2e-4)


@pytest.mark.parametrize("kind", ["wordpiece", "bpe", "unigram"])
def test_the_target_can_be_the_first_piece_alone(tmp_path, kind):
    """One mask, first id of the word, as the released code has it."""
    corpus = corpus_of(tmp_path)
    folder = checkpoint(tmp_path / "model", kind, [sentence.text for sentence in corpus])
    scorer = open_targets(str(folder), threads=1, target="first_piece")
    result = associate(corpus, scorer, model="tiny")
    tokenizer, model = scorer.loaded.tokenizer, scorer.loaded.model
    assert max(entry.pieces for entry in result) > 1
    for row in result:
        start, end = row.sentence.person_at
        text = row.sentence.text[:start] + tokenizer.mask_token + row.sentence.text[end:]
        encoded = tokenizer(text, return_tensors="pt")["input_ids"]
        place = int((encoded[0] == tokenizer.mask_token_id).nonzero().ravel()[0])
        first = ids_at(tokenizer, row.sentence.text, row.sentence.person_at)[0]
        with torch.no_grad():
            logp = float(torch.log_softmax(model(encoded).logits[0, place].double(), dim=-1)[first])
        assert row.logp_target == pytest.approx(logp, abs=1e-4)


@pytest.mark.parametrize("kind", ["wordpiece", "bpe", "unigram"])
def test_each_piece_of_the_profession_gets_a_mask(tmp_path, kind):
    corpus = corpus_of(tmp_path)
    folder = checkpoint(tmp_path / "model", kind, [sentence.text for sentence in corpus])
    scorer = open_targets(str(folder), threads=1, attribute="piece")
    for entry in associate(corpus, scorer, model="tiny", attribute="piece"):
        tokenizer = scorer.loaded.tokenizer
        hidden = len(ids_at(tokenizer, entry.sentence.text, entry.sentence.profession_at))
        assert entry.masks == entry.pieces + hidden
    assert "|all,piece|" in scorer.signature


def test_equal_masked_sentences_are_read_once_with_equal_answers(tmp_path, monkeypatch):
    corpus = corpus_of(tmp_path)
    folder = checkpoint(tmp_path / "model", "wordpiece", [sentence.text for sentence in corpus])
    scorer, tally, done = open_targets(str(folder), threads=1), Tally(), []
    together = associate(corpus, scorer, model="tiny", tally=tally, progress=lambda n, of: done.append((n, of)))
    alone = [associate([sentence], scorer, model="tiny")[0] for sentence in corpus[::3]]
    assert [entry.value for entry in together[::3]] == pytest.approx([entry.value for entry in alone], abs=1e-5)
    monkeypatch.setattr(run, "CHUNK", 1)
    small = associate(corpus, open_targets(str(folder), threads=1), model="tiny")
    assert [entry.value for entry in small] == pytest.approx([entry.value for entry in together], abs=1e-5)
    seen = {(entry.sentence.tm, entry.pieces) for entry in together}
    unseen = {(entry.sentence.tam, entry.pieces) for entry in together}
    assert (tally.target_passes, tally.prior_passes) == (len(seen), len(unseen))
    assert tally.passes_saved == 2 * len(corpus) - len(seen) - len(unseen) > len(corpus) / 2
    assert done[-1] == (2 * len(corpus), 2 * len(corpus))


def test_an_unknown_word_is_undefined(tmp_path):
    corpus = corpus_of(tmp_path, CHINESE)
    folder = checkpoint(
        tmp_path / "model", "character", [sentence.text for sentence in corpus if sentence.noun != "妈妈"]
    )
    tally = Tally()
    result = associate(corpus, open_targets(str(folder), threads=1), model="tiny", tally=tally)
    lost = [entry for entry in result if entry.status != OK]
    assert {entry.sentence.noun for entry in lost} == {"妈妈"}
    assert {entry.value for entry in lost} == {None}
    assert tally.undefined == {"A word is not in this model's vocabulary.": 3}
    assert tally.scored == 9
    assert math.isnan(frame_of(lost)["association"].iloc[0])


# docs/association.md#the-number [C]; and what is undefined.
@pytest.mark.parametrize(
    ("target", "prior", "value", "reason"),
    [
        (math.log(2e-3), math.log(5e-4), 1.3862943611, None),
        (math.log(5e-4), math.log(2e-3), -1.3862943611, None),
        (math.log(0.5), -math.inf, None, NO_PRIOR),
        (-math.inf, math.log(0.5), None, NO_TARGET),
        (-math.inf, -math.inf, None, NO_PRIOR),
        (None, math.log(0.5), None, None),
    ],
)
def test_an_association_is_the_log_ratio_of_target_and_prior(target, prior, value, reason):
    found, why = association(target, prior)
    assert found == (None if value is None else pytest.approx(value, abs=1e-10))
    assert why == reason


class Impossible:
    """A model that never writes 'she' where the profession is hidden."""

    signature, passes = "target|impossible|weights:00000000|all,word|fp32|v1", 0

    def score(self, probes):
        return [Score((-math.inf if p.hidden and p.options[0] == "She" else -1.0,), self.signature) for p in probes]

    def pieces(self, probe):
        return 1

    def masks(self, probe):
        return 2


def test_a_prior_of_zero_is_counted_and_left_out(tmp_path):
    tally = Tally()
    result = associate(corpus_of(tmp_path), Impossible(), model="impossible", tally=tally)
    assert tally.undefined == {NO_PRIOR: 6}
    frame = frame_of(result)
    assert [(group.kind, group.gender, group.undefined) for group in groups(frame) if group.undefined] == [
        ("female", "female", 4), ("male", "female", 2),
    ]  # fmt: skip
    assert frame.loc[frame["person"] == "She", "association"].isna().all()


def test_a_planted_association_is_recovered():
    size = 0.8
    name = f"planted:association={size:g}"
    scorer, tally = open_targets(name, threads=1), Tally()
    frame = frame_of(associate(list(sentences(association_set("en"))), scorer, model=name, tally=tally))
    assert (tally.sentences, tally.scored, tally.probes) == (5400, 5400, 10_800)
    assert tally.passes + tally.passes_saved == 10_800
    assert tally.passes == 900 + 60  # he/she, this, my x 5 x 60; x 5 x the four lengths of professions
    for group in groups(frame):
        planted = planted_association(size, group.kind, group.gender)
        assert group.mean.low < planted < group.mean.high, (group.kind, group.gender)
        assert group.mean.value == pytest.approx(planted, abs=1e-3)
        assert group.numbers.n == 900
    for group in differences(frame):
        planted = planted_association(size, group.name, "male") - planted_association(size, group.name, "female")
        assert group.estimate.low < planted < group.estimate.high
        assert (group.professions, group.words, group.unit) == (20, 9, "pair")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("planted:association=9", "is not a planted model"),
        ("planted:association", "is not a planted model"),
        ("no/such folder/here", "is neither a folder nor the name of a model on the Hugging Face Hub"),
    ],
)
def test_unavailable_models_are_refused(name, says):
    with pytest.raises(ModelUnavailable, match=says):
        open_targets(name, threads=1)


def test_a_model_without_a_mask_or_a_head_is_refused(tmp_path):
    texts = [sentence.text for sentence in corpus_of(tmp_path)]
    folder = checkpoint(tmp_path / "model", "wordpiece", texts)
    settings = folder / "tokenizer_config.json"
    settings.write_text(settings.read_text().replace('"mask_token": "[MASK]"', '"mask_token": null'))
    with pytest.raises(ModelUnavailable, match="has no mask token"):
        open_targets(str(folder), threads=1)
    other = checkpoint(tmp_path / "other", "wordpiece", texts)
    BertForMaskedLM.from_pretrained(other).bert.save_pretrained(other)
    with pytest.raises(ModelUnavailable, match=r"has no masked-language-modelling head; its scores would be random\."):
        open_targets(str(other), threads=1)
