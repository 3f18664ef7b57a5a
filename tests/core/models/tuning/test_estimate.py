"""The forecast from files is that of the loaded model."""

from pathlib import Path

import pytest

from evenhand.core.models.tuning.settings import Tuning, memory_of
from tests.support.tiny_models import bert, tiny_causal


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_the_forecast_from_files_equals_the_loaded_model(tmp_path: Path, kind: str) -> None:
    from evenhand.core.models.tuning.training import Changeable

    bert(tmp_path) if kind == "bert" else tiny_causal(tmp_path, kind)
    memory, loaded = memory_of(str(tmp_path), Tuning()), Changeable(str(tmp_path), device="cpu").forecast(Tuning())
    assert memory is not None
    assert (memory.weights, memory.optimizer) == (loaded.weights, loaded.optimizer)
    assert memory.activations == loaded.activations


def test_a_model_that_is_not_local_has_no_forecast(tmp_path: Path) -> None:
    assert memory_of("somebody/some-model", Tuning()) is None
    assert memory_of(str(tmp_path / "none"), Tuning()) is None
    assert memory_of("planted:+1", Tuning()) is None
