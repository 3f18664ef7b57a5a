"""The loop of runs: how far it is over models, models that cannot be used, lists of models that cannot be run."""

from pathlib import Path
from threading import Barrier

import pytest

from evenhand.core.errors import ModelUnavailable, Refused
from evenhand.core.runs.loop import Ended, ParallelProgress, RunProgress, check_models, each_model, models_beside


class Heard(list[tuple[int, int | None, str]]):
    """An observer that records its calls."""

    def __call__(self, done: int, total: int | None = None, message: str = "") -> None:
        self.append((done, total, message))


def test_progress_adds_up_without_free_steps() -> None:
    heard = Heard()
    steps = RunProgress(heard, 30)
    steps(4, message="a")
    steps(6, message="a", free=2)
    steps.finish(8, free=2)
    steps(0, 10, "b")  # the total of a part does not determine that of the whole
    steps(50, message="b")
    assert heard == [(4, 30, "a"), (6, 28, "a"), (8, 28, "b"), (28, 28, "b")]
    RunProgress(None, 5)(1)  # without an observer


def test_an_empty_run_has_a_total_of_one() -> None:
    heard = Heard()
    RunProgress(heard, 3)(0, free=3)
    assert heard == [(0, 1, "")]


def test_an_unusable_model_is_a_failure_and_others_continue() -> None:
    heard = Heard()
    steps = RunProgress(heard, 30)

    def ask(model: str) -> int:
        if model == "none":
            raise ModelUnavailable("{name} is not a model.", name=model)
        steps.finish(10)
        return len(model)

    answers, failures = each_model(["one", "none", "three"], ask, steps, 10)
    assert answers == [3, 5]
    assert [(failure.model, failure.text, failure.values) for failure in failures] == [
        ("none", "none is not a model.", {"name": "none"})
    ]
    assert heard == [(0, 30, "one"), (10, 30, "none"), (10, 20, "three")]


def test_parallel_models_are_returned_in_order() -> None:
    heard, together = Heard(), Barrier(2, timeout=30)

    def ask(model: str, steps: RunProgress) -> int:
        if model == "none":
            raise ModelUnavailable("{name} is not a model.", name=model)
        together.wait()  # passes only where both are under way
        steps(4, message=model)
        steps.finish(10)
        steps(0, message=model)
        return len(model)

    answers, failures = models_beside(["three", "none", "one"], ask, 10, heard, 3)
    assert answers == [5, 3]
    assert [failure.model for failure in failures] == ["none"]
    assert heard[-1][:2] == (20, 20), "what failed is no longer in the total"
    with pytest.raises(ModelUnavailable, match="none is not a model"):
        models_beside(["none", "none"], ask, 10, None, 2)


def test_an_error_in_one_model_ends_parallel_ones() -> None:
    ended, together = list[str](), Barrier(2, timeout=30)

    def ask(model: str, steps: RunProgress) -> None:
        together.wait()
        if model == "bad":
            raise ZeroDivisionError
        try:
            while True:
                steps(1, message=model)
        except Ended:
            ended.append(model)
            raise

    with pytest.raises(ZeroDivisionError):
        models_beside(["bad", "good"], ask, 10, Heard(), 2)
    assert ended == ["good"]


def test_parallel_progress_adds_up() -> None:
    heard = Heard()
    beside = ParallelProgress(heard, 2, 10)
    first, second = beside.part(0), beside.part(1)
    first(3, message="a")
    second(5, 7, "b")
    first(10, 10, "a")
    assert heard == [(3, 20, "a"), (8, 17, "b"), (15, 17, "a")]


def test_the_first_error_is_raised_if_all_models_fail() -> None:
    def ask(model: str) -> None:
        raise Refused("{name} refuses.", name=model)

    with pytest.raises(Refused, match="a refuses"):
        each_model(["a", "b"], ask, RunProgress(None, 2), 1)


def test_a_programming_error_is_not_a_model_failure() -> None:
    def ask(model: str) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        each_model(["a", "b"], ask, RunProgress(None, 2), 1)


def test_invalid_lists_of_models_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="at least one"):
        check_models(())
    with pytest.raises(Refused, match=r"known is given twice; give each model once\."):
        check_models(("known", "demo-zh", "known"))
    with pytest.raises(ModelUnavailable):
        check_models((str(tmp_path / "nothing"),), fetch=False)
    check_models(("known", str(tmp_path / "nothing")))  # costs that model, in the run
    check_models(("known", "some/model-of-the-hub"), fetch=False)  # the hub is left to the run
