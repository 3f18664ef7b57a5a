"""Training of the built-in models: the text, the masks, the start, and a few real steps on text of our own."""

import json
import random
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from evenhand.core.errors import BadFile
from evenhand.core.models.loading import load_masked
from evenhand.core.models.masked import MaskedScorer
from evenhand.core.resources import MODELS, keyword_pairs
from evenhand.core.types import MaskedSentence
from training import corpora, known, masked_run, run
from training.demo_zh import Text
from training.masked_run import Plan, build
from training.run import train

TINY = Plan(steps=4, budget=256, warmup=2, width=64, layers=1)
SUBJECTS = ("他", "她", "老师", "司机", "那个男孩", "那位女孩", "爸爸", "妈妈", "工程师", "邻居")
DEEDS = ("在河边散步", "买了两本书", "修好了门", "给朋友写信", "今天很早起床", "喜欢听音乐")
ENDS = ("。", "，然后回家了。", "，大家都很高兴。", "！", "？")


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return an encyclopedia and a file of sentences, both made up from parts."""
    folder = tmp_path_factory.mktemp("text")
    sentences = [who + deed + end for who in SUBJECTS for deed in DEEDS for end in ENDS]
    wiki, csv = folder / "wiki.txt", folder / "sentences.csv"
    wiki.write_text("\n".join("".join(sentences[i : i + 8]) for i in range(300)), encoding="utf-8")
    rows = [f'{sentence},"[0, 1]",他,她' for sentence in sentences]
    csv.write_text("\n".join(["句子,关键词位置,原始关键词,对立关键词", *rows]), encoding="utf-8")
    return wiki, csv


def test_a_run_makes_a_model_that_loads_and_scores(files: tuple[Path, Path], tmp_path: Path) -> None:
    text = Text(*files, tmp_path)
    facts = train(TINY, text, tmp_path)
    assert facts["steps"] == 4 and facts["held_out"]["pooled"]["tokens"] > 0
    assert {tensor.dtype for tensor in load_file(tmp_path / "model.safetensors").values()} == {torch.float16}
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert f"{facts['held_out']['wiki']['accuracy']:.1%}" in card and "went on with" not in card
    scorer = MaskedScorer(load_masked(str(tmp_path)))
    assert scorer.score([MaskedSentence("他在河边散步。", 0, 1, ("他", "她"))])[0].reason is None


def test_a_seed_fixes_the_weights_and_a_stopped_run_continues(files: tuple[Path, Path], tmp_path: Path) -> None:
    weights = []
    for name in "ab":
        train(TINY, Text(*files, tmp_path / name), tmp_path / name)
        weights.append(load_masked(str(tmp_path / name)).weights)
    assert weights[0] == weights[1]
    longer = Plan(**(TINY.__dict__ | {"steps": 6}))
    facts = train(longer, Text(*files, tmp_path / "a"), tmp_path / "a", resume=True)
    assert facts["steps"] == 6 and facts["resumed_at"] == [4]
    assert "stopped at step 4 and went on" in (tmp_path / "a" / "README.md").read_text(encoding="utf-8")
    assert load_masked(str(tmp_path / "a")).weights != weights[0]
    assert json.loads((tmp_path / "a" / "training.json").read_text())["tokens"] == facts["tokens"]


def test_training_lowers_the_loss(files: tuple[Path, Path], tmp_path: Path) -> None:
    text = Text(*files, tmp_path)
    untrained = build(TINY, len(text.tokenizer))
    masked_run.know_frequencies(untrained, text.paragraphs)
    before = text.held_out(untrained)["pooled"]["accuracy"]
    after = train(Plan(**(TINY.__dict__ | {"steps": 40})), text, tmp_path)["held_out"]["pooled"]["accuracy"]
    assert after > before


def test_too_little_text_is_refused(tmp_path: Path) -> None:
    wiki, csv = tmp_path / "wiki.txt", tmp_path / "sentences.csv"
    wiki.write_text("他在河边。", encoding="utf-8")
    csv.write_text("句子\n他在河边。\n", encoding="utf-8")
    with pytest.raises(BadFile, match="too little text"):
        Text(wiki, csv, tmp_path / "out")


def test_three_in_a_hundred_texts_are_held_out_reproducibly() -> None:
    texts = [f"第{n}段文字" for n in range(5000)]
    train_part, held = corpora.split(texts)
    assert sorted(train_part + held) == sorted(texts)
    assert 100 < len(held) < 200
    assert corpora.split(list(reversed(texts)))[1] == list(reversed(held))


def test_the_vocabulary_contains_unseen_stems() -> None:
    tokens = corpora.vocabulary(["他说好好好ABC"])
    assert tokens[:5] == list(corpora.SPECIAL) and len(tokens) == len(set(tokens))
    stems = {character for pair in keyword_pairs() for stem in pair.stems for character in stem}
    assert stems | {"它", "祂", "妳"} <= set(tokens)
    assert "好" in tokens and "说" not in tokens  # seen once only
    assert "##b" in tokens


@given(st.lists(st.integers(1, 200), min_size=1, max_size=50), st.integers(256, 2048))
def test_batches_contain_every_piece_once(lengths: list[int], budget: int) -> None:
    pieces = [[n] * length for n, length in enumerate(lengths)]
    batches = list(masked_run.batches(pieces, budget, random.Random(0)))
    assert sorted(piece for batch in batches for piece in batch) == sorted(pieces)
    assert all(len(batch) == 1 or len(batch) * (max(map(len, batch)) + 2) <= budget for batch in batches)


def test_masks_never_fall_on_special_tokens_and_hit_their_rate(files: tuple[Path, Path], tmp_path: Path) -> None:
    text = Text(*files, tmp_path)
    ids = text.layout.pad((text.sentences * 10)[:2000])
    ordinary = ids > 4
    for pair_share in (0.0, 1.0):
        masked, where = masked_run.mask(ids, 0.2, pair_share, text.layout, torch.Generator().manual_seed(0))
        assert not (where & ~ordinary).any()
        assert (masked[where] == text.tokenizer.mask_token_id).all() and torch.equal(masked[~where], ids[~where])
        assert 0.17 < float(where.sum() / ordinary.sum()) < 0.22


@pytest.mark.parametrize("offset", [-4, -1, 1, 3])
def test_rotated_waves_equal_the_waves_of_the_neighbour(offset: int) -> None:
    table, angles = masked_run.waves(64, 32, 1.0)
    moved = table[10:50] @ masked_run.turned(angles, offset).T
    assert torch.allclose(moved, table[10 + offset : 50 + offset], atol=1e-4)


def test_heads_initially_attend_to_their_neighbours() -> None:
    model = build(Plan(width=192, layers=2), 100)
    masked_run.look_at_neighbours(model)
    model.set_attn_implementation("eager")
    ids = torch.randint(5, 100, (1, 40), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        attention = model.bert(input_ids=ids, output_attentions=True).attentions[0][0]
    places = torch.arange(8, 32)
    for head, offset in enumerate(masked_run.OFFSETS[0]):
        attended = attention[head].argmax(-1)[places] == places + offset
        assert float(attended.float().mean()) > 0.8


@pytest.mark.parametrize("shape", [(24, 24), (24, 96), (96, 24)])
def test_orthogonal_updates_have_singular_values_near_one(shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    values = torch.linalg.svdvals(run.orthogonal(torch.randn(shape)))
    assert float(values.min()) > 0.5 and float(values.max()) < 1.3  # the range that the quintic iteration settles in


def test_the_table_of_the_known_model_sums_to_one_and_is_shipped(tmp_path: Path) -> None:
    table = known.probabilities()
    assert sum(table.values()) == 1 and min(table.values()) > 0
    corpora.make_tokenizer(list(table), tmp_path, longest=512)
    known.build(table).save_pretrained(tmp_path)
    assert load_masked(str(tmp_path)).weights == load_masked("known").weights
    assert known.card(table) == (MODELS / "known" / "README.md").read_text(encoding="utf-8")
