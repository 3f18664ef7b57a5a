"""Vectors of sentences and words against plain transformers: layers, poolings, what has no vector."""

from pathlib import Path

import numpy as np
import pytest
import torch

from evenhand.core.errors import Refused
from evenhand.core.models.measure_readers import VectorReader
from tests.support.tiny_models import bert, tiny_causal

TEXTS = ["他是医生。", "妈妈在看书，很高兴。"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    made = tmp_path_factory.mktemp("model")
    bert(made, seed=3)
    return str(made)


def states(reader: VectorReader, text: str, layer: int) -> np.ndarray:
    ids = torch.tensor([reader.loaded.tokenizer.encode(text)])
    with torch.no_grad():
        return reader.loaded.model(ids, output_hidden_states=True).hidden_states[layer][0].numpy()


@pytest.mark.parametrize(("pooling", "layer"), [(None, -1), ("mean", 0), ("last", 1)])
def test_a_vector_is_a_hidden_state(folder: str, pooling: str | None, layer: int) -> None:
    reader = VectorReader(folder, layer=layer, pooling=pooling, device="cpu")  # type: ignore[arg-type]
    result = reader.sentences(TEXTS)  # of two lengths, padded together
    for text in TEXTS:
        whole = states(reader, text, layer)
        wanted = {None: whole[0], "mean": whole[1:-1].mean(0), "last": whole[-2]}[pooling]
        assert result[text] == pytest.approx(wanted, abs=1e-5)
    assert reader.signature("seat").split("|")[3] == f"layer{layer % 3},{pooling or 'first'}"


def test_a_causal_model_gives_the_vector_of_the_last_token(tmp_path: Path) -> None:
    reader = VectorReader(str(tiny_causal(tmp_path / "m", "gpt2")), device="cpu")
    text = TEXTS[0]
    whole = states(reader, text, -1)  # <s>, the text, </s>
    assert reader.sentences([text])[text] == pytest.approx(whole[-2], abs=1e-5)


def test_empty_long_and_unknown_texts_have_no_vector(folder: str) -> None:
    reader = VectorReader(folder, device="cpu")
    assert list(reader.sentences(["", "他" * 100, "他"])) == ["他"]
    words = reader.words(["医生", "xyz"])
    table = reader.loaded.model.get_input_embeddings().weight.detach().numpy()
    ids = reader.loaded.tokenizer.convert_tokens_to_ids(["医", "生"])
    assert list(words) == ["医生"] and words["医生"] == pytest.approx(table[ids].mean(0))
    with pytest.raises(Refused, match="has 2 layers; layer 3 does not exist"):
        VectorReader(folder, layer=3)


def test_an_untrained_twin_differs_and_is_reproducible(folder: str) -> None:
    first, second = (VectorReader(folder, device="cpu", untrained=True) for _ in range(2))
    assert first.signature("weat") == second.signature("weat") != VectorReader(folder, device="cpu").signature("weat")
