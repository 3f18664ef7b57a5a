"""Dataclasses become JSON values and come back equal."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.errors import BadFile
from evenhand.core.statistics import Estimate, Note
from evenhand.core.typed_json import from_json, to_json

TEXTS = st.text(alphabet=st.characters(exclude_categories=("Cs",)))


@dataclass(frozen=True)
class Inner:
    name: str
    share: float | None = None


@dataclass(frozen=True)
class Outer:
    inner: tuple[Inner, ...] = ()
    counts: dict[str, int] | None = None
    file: Path | None = None
    side: Literal["male", "female"] = "male"


@given(
    st.lists(st.builds(Inner, TEXTS, st.none() | st.floats(allow_nan=False, allow_infinity=False))),
    st.none() | st.dictionaries(TEXTS, st.integers(-(2**53), 2**53)),
    st.sampled_from([None, Path("a/b.csv")]),
)
def test_a_dataclass_survives_a_round_trip(
    inner: list[Inner], counts: dict[str, int] | None, file: Path | None
) -> None:
    value = Outer(tuple(inner), counts, file, "female")
    assert from_json(Outer, json.loads(json.dumps(to_json(value)))) == value


def test_unknown_keys_are_ignored_and_missing_ones_take_defaults() -> None:
    assert from_json(Outer, {"of": "a later version"}) == Outer()


def test_a_numpy_number_becomes_a_plain_one() -> None:
    assert json.dumps(to_json({"n": np.int64(3), "x": np.float64(0.5)})) == '{"n": 3, "x": 0.5}'


@dataclass(frozen=True)
class Span:
    start: int
    end: int
    also_in_json: ClassVar[tuple[str, ...]] = ("length",)

    @property
    def length(self) -> int:
        return self.end - self.start


@dataclass(frozen=True)
class Named:
    name: str

    def to_json(self) -> str:
        return self.name


def test_properties_named_by_the_class_are_written() -> None:
    data = to_json({1: [Span(2, 5)]})
    assert data == {"1": [{"start": 2, "end": 5, "length": 3}]} and from_json(Span, data["1"][0]) == Span(2, 5)


def test_an_object_writes_itself_unless_a_writer_is_given() -> None:
    assert to_json((Named("a"), Inner("b"))) == ["a", {"name": "b", "share": None}]
    assert to_json([Named("a")], {Named: lambda value: value.name.upper()}) == ["A"]


@dataclass(frozen=True)
class Spread:
    value: float | None
    middle: float | None
    reason: str | None = None
    middle_reason: str | None = None
    explained_by: ClassVar = "reason"


def test_an_undefined_value_has_its_reason() -> None:
    assert to_json(Spread(1.0, 2.0)) == {"value": 1.0, "middle": 2.0}
    assert to_json(Spread(None, 2.0, "no row")) == {"value": None, "value_reason": "no row", "middle": 2.0}
    assert to_json(Inner("a", None)) == {"name": "a", "share": None}


@dataclass(frozen=True)
class Renamed:
    first: int
    hidden: int
    inner: Inner
    json_names: ClassVar = {"first": "1st", "hidden": None, "inner": ""}


class Ends(NamedTuple):
    first: int
    last: int


@dataclass(frozen=True)
class Forecast:
    ends: Ends
    rate: Estimate
    flat_estimates: ClassVar = True


def test_a_flat_estimate_has_its_reason_next_to_it() -> None:
    data = to_json(Forecast(Ends(1, 2), Estimate.undefined(Note("no labels"))))
    numbers = {"value": None, "low": None, "high": None}
    assert data == {"ends": {"first": 1, "last": 2}, "rate": numbers, "rate_reason": "no labels"}


def test_fields_can_be_renamed_in_json() -> None:
    assert to_json(Renamed(1, 2, Inner("a", 0.5))) == {"1st": 1, "name": "a", "share": 0.5}


@pytest.mark.parametrize(
    ("data", "place"),
    [({"side": "left"}, "side"), ({"inner": [{}]}, "name"), ({"counts": 3}, "counts"), ([], "object")],
)
def test_a_wrong_value_is_named(data: object, place: str) -> None:
    with pytest.raises(BadFile, match=place):
        from_json(Outer, data)
