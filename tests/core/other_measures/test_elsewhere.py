"""docs/measures_elsewhere.md: each claim about a toolkit is computed as its code does it, and compared with the app.

The toolkits are not installed; their computation is rewritten from their published code, in the fewest lines.
"""

import math
import re
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForMaskedLM

from evenhand.core.errors import ModelUnavailable
from evenhand.core.models.loading import load_masked
from evenhand.core.models.measure_readers import BlankReader, Filled, SentencePairReader
from evenhand.core.other_measures.stereotypes import Item, crows_pairs, stereoset
from evenhand.core.other_measures.weat import MOST, p_value, weat
from evenhand.core.resources import ROOT
from tests.support.tiny_models import bert, tiny_causal

SETS = {"X": ["x1", "x2", "x3", "x4"], "Y": ["y1", "y2", "y3", "y4"], "A": ["a1", "a2"], "B": ["b1", "b2"]}
PAGE = (ROOT / "docs" / "measures_elsewhere.md").read_text(encoding="utf-8")


def vectors() -> dict[str, np.ndarray]:
    random = np.random.default_rng(4)
    return {word: random.normal(size=6) + (word[0] in "xa") for words in SETS.values() for word in words}


def test_every_claim_names_its_reproduction() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| toolkit")]
    named = [re.findall(r"`(test_\w+)`", line) for line in rows]
    assert rows and all(named) and {one for some in named for one in some} <= set(globals())


def test_wefe_divides_by_the_deviation_with_ddof_0() -> None:
    known = vectors()

    def s(word: str) -> float:
        def cosine(other: str) -> float:
            a, b = known[word], known[other]
            return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

        return float(np.mean([cosine(a) for a in SETS["A"]]) - np.mean([cosine(b) for b in SETS["B"]]))

    x, y = ([s(word) for word in SETS[name]] for name in "XY")
    theirs = (np.mean(x) - np.mean(y)) / np.std(x + y)
    assert theirs == pytest.approx(weat("X,Y,A,B", SETS, known).effect * math.sqrt(8 / 7))


def test_sent_bias_draws_partitions_with_replacement() -> None:
    """It shuffles 99,999 times: of 70 partitions each comes about 1,400 times, the observed one among them."""
    both = np.random.default_rng(2).normal(size=8)
    exact, is_exact, partitions, *_ = p_value(both, 4)
    assert is_exact and partitions == 70
    random, places = np.random.default_rng(0), np.arange(8)
    seen, at_least, draws = set(), 1, 2_000
    for _draw in range(draws - 1):
        random.shuffle(places)
        seen.add(frozenset(places[:4].tolist()))
        at_least += both[places[:4]].sum() >= both[:4].sum() - 1e-9
    assert len(seen) == 70 < draws and frozenset(range(4)) in seen
    assert at_least / draws != exact and abs(at_least / draws - exact) < 0.05


def test_here_no_partition_is_drawn_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    monkeypatch.setattr(
        "evenhand.core.other_measures.weat._band", lambda sums, *_: (drawn.append(len(sums)), (0.0, 0.0))[1]
    )  # fmt: skip
    p_value(np.random.default_rng(1).normal(size=18), 9)
    assert drawn == [MOST]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("model")
    bert(made, num_hidden_layers=1)
    return made


def average_of_changed(folder: Path, more: str, less: str) -> tuple[float, float] | None:
    """Return bias-bench's mean of ln p over the different tokens, or None for a pair that it skips."""
    loaded = load_masked(str(folder))
    ids = [loaded.tokenizer.encode(text) for text in (more, less)]
    blocks = [
        opcode
        for opcode in SequenceMatcher(None, *[[str(i) for i in row] for row in ids]).get_opcodes()
        if opcode[0] != "equal"
    ]
    places = [[i for block in blocks for i in range(block[1 + 2 * k], block[2 + 2 * k])] for k in (0, 1)]
    if not all(places):
        return None
    results = []
    for row, some in zip(ids, places, strict=True):
        terms = []
        for place in some:
            given = torch.tensor([row])
            given[0, place] = loaded.tokenizer.mask_token_id
            terms.append(float(loaded.model(given).logits[0, place].log_softmax(-1)[row[place]]))
        results.append(round(sum(terms) / len(terms), 3))
    return results[0], results[1]


def test_bias_bench_scores_the_tokens_that_differ(folder: Path) -> None:
    pairs = [("他是医生。", "她是医生。"), ("爸爸说很好。", "妈妈说很好。"), ("今天他来了", "今天来了")]
    read = SentencePairReader(str(folder), device="cpu").read(pairs)
    theirs = [average_of_changed(folder, *pair) for pair in pairs]
    assert theirs[2] is None  # skipped there, counted here
    assert crows_pairs(pairs, read, "published", "").pairs == 3
    for one, scores in zip(read[:2], theirs[:2], strict=True):
        assert one is not None and scores is not None
        ours = [round(sum(side.changed) / len(side.changed), 3) for side in one]
        assert ours == pytest.approx(scores, abs=2e-3)
        assert [round(sum(side.shared), 3) for side in one] != list(scores)


def test_bias_bench_takes_perplexities_of_causal_models(tmp_path: Path) -> None:
    """2 ** (mean of log2 p) is exp(mean ln p): the sentence score of StereoSet's causal models, not CrowS-Pairs."""
    reader = BlankReader(str(tiny_causal(tmp_path / "m", "gpt2")), device="cpu")
    (score,) = reader.read([Filled("BLANK是", "他", "他是医生")])
    ids = reader.loaded.tokenizer("他是医生", add_special_tokens=False)["input_ids"]
    start = torch.tensor([[reader.loaded.tokenizer.eos_token_id if reader.loaded.tokenizer.bos_token_id is None
                           else reader.loaded.tokenizer.bos_token_id]])  # fmt: skip
    with torch.no_grad():
        first = reader.loaded.model(start).logits[0, 0].softmax(-1)[ids[0]]
        rest = reader.loaded.model(torch.tensor([ids])).logits[0].softmax(-1)
    joint = [float(first)] + [float(rest[i - 1, ids[i]]) for i in range(1, len(ids))]
    assert score == pytest.approx(np.power(2, np.sum(np.log2(joint)) / len(joint)), rel=1e-4)


def test_stereoset_counts_each_item_three_times() -> None:
    """Its loader puts an item into the list of its domain once for each of its three sentences."""
    items = [Item("a", ("1", "2", "3")), Item("b", ("4", "5", "6"))]
    theirs = [item for item in items for _sentence in item.ids]
    scores = {str(i): float(i) for i in range(1, 7)}
    assert len(theirs) == 6 and stereoset(items, scores).items == 2
    assert stereoset(theirs, scores).ss == stereoset(items, scores).ss
    assert 3 * 255 == 765


def renamed(weights: Path, how: Callable[[str], str]) -> None:
    """Give the weights other names, as in a checkpoint of another time."""
    save_file({how(key): value.clone() for key, value in load_file(weights).items()}, weights, {"format": "pt"})


def test_a_faulty_load_is_refused(tmp_path: Path) -> None:
    """For wrong names the library fills in random weights and continues; two loads then give two results."""
    bert(tmp_path, num_hidden_layers=1)
    renamed(tmp_path / "model.safetensors", lambda key: f"old.{key}")
    first, second = (AutoModelForMaskedLM.from_pretrained(tmp_path, local_files_only=True).eval() for _ in range(2))
    given = torch.tensor([[2, 5, 6, 3]])
    with torch.no_grad():
        assert not torch.allclose(first(given).logits, second(given).logits)
    with pytest.raises(ModelUnavailable, match=r"random|lack"):
        load_masked(str(tmp_path))
