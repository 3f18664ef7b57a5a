"""Training of the English built-in models: vocabularies, a few real steps on text of our own, what is written."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from evenhand.core.errors import BadFile
from evenhand.core.models.loading import load_masked
from evenhand.core.models.masked import MaskedScorer
from evenhand.core.types import MaskedSentence
from training import corpora, demo_en, demo_en_causal
from training.masked_run import Plan
from training.run import train

PEOPLE = ("He", "She", "My brother", "Her sister", "The farmer", "The teacher", "An old woman", "A young man")
DEEDS = ("walked to the river", "wrote a long letter", "mended the gate", "sold two horses", "read by the fire")
ENDS = (" before supper.", ", and said nothing.", " that morning.", " without a word!")


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("text") / "books.txt"
    sentences = [f"{who} {deed}{end}" for who in PEOPLE for deed in DEEDS for end in ENDS]
    file.write_text("\n".join(" ".join(sentences[i : i + 6]) for i in range(150)), encoding="utf-8")
    return file


def test_a_masked_run_makes_a_model_that_knows_every_word_of_the_measures(books: Path, tmp_path: Path) -> None:
    text = demo_en.Text(books, tmp_path, size=300)
    facts = train(Plan(steps=3, budget=256, warmup=1, width=64, layers=1), text, tmp_path)
    assert facts["held_out"]["books"]["tokens"] > 0
    assert {tensor.dtype for tensor in load_file(tmp_path / "model.safetensors").values()} == {torch.float16}
    assert f"{facts['held_out']['books']['accuracy']:.1%}" in (tmp_path / "README.md").read_text(encoding="utf-8")
    scorer = MaskedScorer(load_masked(str(tmp_path)))
    assert [word for word in corpora.WHOLE if scorer.reader.token_of(word, spaced=False) is None] == []
    scores = scorer.score([MaskedSentence("He wrote a letter.", 0, 2, ("he", "she"))])
    assert scores[0].reason is None


def test_pieces_are_numbered_by_the_alphabet_after_the_special_tokens(books: Path, tmp_path: Path) -> None:
    """The learner numbers them otherwise on every run, and weights would then not be comparable."""
    texts, _ = corpora.read_books(books)
    ids = corpora.wordpieces(texts, tmp_path, 64, size=200).get_vocab()
    tokens = sorted(ids, key=ids.__getitem__)
    assert tuple(tokens[:5]) == corpora.SPECIAL
    assert tokens[5:] == sorted(tokens[5:]) and "##s" in ids and "xyrs" in ids


def test_byte_pairs_restore_every_text(books: Path, tmp_path: Path) -> None:
    texts, _ = corpora.read_books(books)
    tokenizer = corpora.byte_pairs(texts, tmp_path, 64, size=400)
    for text in ("She wrote: “naïve” 他", " two  spaces\tand a tab\n", texts[0]):
        assert tokenizer.decode(corpora.encode(tokenizer, [text])[0]) == text


def test_a_causal_run_makes_a_model_that_loads_and_learns(books: Path, tmp_path: Path) -> None:
    text = demo_en_causal.Text(books, tmp_path, size=300)
    plan = demo_en_causal.Plan(steps=12, rows=2, warmup=2, width=64, layers=1)
    untrained = text.held_out(demo_en_causal.build(plan, len(text.tokenizer), text.end), rows=4)
    facts = train(plan, text, tmp_path)
    assert facts["held_out"]["perplexity"] < untrained["perplexity"]
    model, loading = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32, output_loading_info=True)
    assert not loading["missing_keys"] and model.config.bos_token_id == text.end
    assert str(facts["held_out"]["perplexity"]) in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_a_causal_run_continues_from_its_checkpoint(books: Path, tmp_path: Path) -> None:
    text = demo_en_causal.Text(books, tmp_path, size=300)
    shape = {"rows": 2, "warmup": 2, "width": 64, "layers": 1}
    train(demo_en_causal.Plan(steps=2, **shape), text, tmp_path)
    facts = train(demo_en_causal.Plan(steps=4, **shape), text, tmp_path, resume=True)
    assert (facts["steps"], facts["resumed_at"], facts["tokens"]) == (4, [2], 4 * 2 * demo_en_causal.WINDOW)
    assert "stopped at step 2 and went on" in (tmp_path / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("reader", [demo_en.Text, demo_en_causal.Text], ids=["masked", "causal"])
def test_too_little_text_is_one_sentence(reader: type, tmp_path: Path) -> None:
    file = tmp_path / "one.txt"
    file.write_text("One line.\n", encoding="utf-8")
    with pytest.raises(BadFile, match=r"one\.txt holds too little text"):
        reader(file, tmp_path / "model", size=300)
