"""Convert dataclasses to JSON values and back."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from evenhand.core.errors import N_, BadFile
from evenhand.core.types import JsonObject

T = TypeVar("T")
Writers = Mapping[type, Callable[[Any], object]]


def to_json(value: object, writers: Writers | None = None) -> Any:
    """Return *value* with its dataclasses as dictionaries and its paths as strings, ready for `json.dumps`.

    A dataclass is written with its fields and with the properties that its class names in `also_in_json`. `json_names`
    of the class gives the keys of some of them: None leaves one out, and "" puts the keys of its value in its place. A
    field whose name ends in `_reason` is a sentence, and left out without one; where the class names a field
    `explained_by`, that sentence is written as KEY_reason for each value that is None. An object with a method
    `to_json`, as an estimate, is written by that method, one of a type in *writers*, or in `written_with` of the
    dataclass that holds it, by that function; with `flat_estimates` the reason of an estimate is next to it
    (`Estimate.under`). Raises TypeError for an object that has no such form.
    """
    if writers and (write := writers.get(type(value))):
        return write(value)
    if hasattr(value, "to_json"):
        return value.to_json()
    if is_dataclass(value):
        return _of_dataclass(value, getattr(value, "written_with", writers))
    if isinstance(value, Mapping):
        return {str(key): to_json(inner, writers) for key, inner in value.items()}
    if hasattr(value, "_asdict"):  # a named tuple
        return to_json(value._asdict(), writers)
    if isinstance(value, list | tuple):
        return [to_json(inner, writers) for inner in value]
    return msgspec.to_builtins(value, builtin_types=(), str_keys=True, enc_hook=_encode)


def with_reasons(values: Mapping[str, Any], reason: object) -> JsonObject:
    """Return *values* with the reason, as KEY_reason, for each that is None."""
    return {**values, **{f"{key}_reason": str(reason) for key, value in values.items() if value is None}}


def _of_dataclass(value: Any, writers: Writers | None) -> JsonObject:
    names, explained_by = getattr(value, "json_names", {}), getattr(value, "explained_by", "")
    values = fields_of(value) | {name: getattr(value, name) for name in getattr(value, "also_in_json", ())}
    reason, data = values.pop(explained_by, None), dict[str, Any]()
    for name, inner in values.items():
        key = names.get(name, name)
        if key and getattr(value, "flat_estimates", False) and hasattr(inner, "under"):
            data |= inner.under(key)
        elif name.endswith("_reason"):
            data |= {} if inner is None else {name: str(inner)}
        elif key:
            data[key] = to_json(inner, writers)
            data |= {f"{key}_reason": str(reason)} if inner is None and explained_by else {}
        elif key is not None:
            data |= to_json(inner, writers)
    return data


def fields_of(value: Any) -> JsonObject:
    """Return the values of a dataclass by field, to make one that extends it."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def from_json(kind: type[T], data: object) -> T:
    """Return the *kind* that `to_json` made *data* of. Unknown keys are ignored; missing ones take their defaults.

    Raises BadFile where a value is missing or of another type; the sentence names the place.
    """
    try:
        return msgspec.convert(data, kind, dec_hook=_decode)
    except msgspec.ValidationError as error:
        raise BadFile(N_("The stored value cannot be read as {kind}: {why}."), kind=kind.__name__, why=error) from error


def _encode(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "item"):  # a numpy number
        return value.item()
    raise TypeError(type(value).__name__)


def _decode(kind: type[Any], value: object) -> object:
    if kind is object:  # anything
        return value
    if isinstance(kind, type) and issubclass(kind, Path) and isinstance(value, str):
        return Path(value)
    raise msgspec.ValidationError(f"a {kind.__name__} cannot be read from JSON")
