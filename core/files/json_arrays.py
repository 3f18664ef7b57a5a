"""A JSON array read element by element, so that a file of any length takes the memory of one element.

ijson would do the same in fewer lines, but it keeps the path to each value (20 KB of brackets take 1 GB, 100 KB over
20 GB), refuses NaN, and turns half a character into a question mark where it should be reported.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from evenhand.core.errors import N_, BadFile

MAX_ELEMENT = 2_000_000  # characters; a longer element is no task and no row
CHUNK = 1 << 18
_SPACE = " \t\r\n\ufeff"


def begins_array(read: Callable[[int], str]) -> bool:
    """Whether the first sign of a text that is not white space is a bracket."""
    while chunk := read(CHUNK):
        if rest := chunk.lstrip(_SPACE):
            return rest[0] == "["
    return False


def elements(read: Callable[[int], str], decoder: json.JSONDecoder, name: str) -> Iterator[tuple[int, Any, str]]:
    """(number from 1, element, its text) of the array that *read*(n) gives n characters at a time.

    Raises BadFile where it is not JSON, ends early, goes on after its end, or has an element of over two million
    characters; what *decoder* raises for single values (other than ValueError) passes through.
    """
    text, place = read(CHUNK), 0
    place = _skip(text, place)
    if text[place : place + 1] != "[":
        raise BadFile(N_("{file} is not a JSON array."), file=name)
    place, number = place + 1, 0
    while True:
        text, place = _ahead(read, text, place)
        sign = text[place : place + 1]
        if sign == "]":
            _nothing_after(read, text[place + 1 :], name)
            return
        if number:
            if sign != ",":
                _broken(name, number, "a comma or the end of the array was expected after it")
            text, place = _ahead(read, text, place + 1)
        number += 1
        value, end, text, place = _element(read, decoder, text, place, name, number)
        yield number, value, text[place:end]
        place = end


def _element(
    read: Callable[[int], str], decoder: json.JSONDecoder, text: str, place: int, name: str, number: int
) -> tuple[Any, int, str, int]:
    while True:
        try:
            value, end = decoder.raw_decode(text, place)
        except (json.JSONDecodeError, RecursionError) as error:
            if len(text) - place > MAX_ELEMENT:
                message = N_("{file}, element {line} has more than {limit} characters, or is not JSON.")
                raise BadFile(message, file=name, line=number, limit=MAX_ELEMENT) from error
            more = read(CHUNK)
            if not more or isinstance(error, RecursionError):
                _broken(name, number, getattr(error, "msg", "nested too deep"), error)
            text, place = text[place:] + more, 0
        else:
            return value, end, text, place


def _ahead(read: Callable[[int], str], text: str, place: int) -> tuple[str, int]:
    """Move to the next sign that is not white space, reading on where the text ends."""
    place = _skip(text, place)
    while place >= len(text):
        text, place = read(CHUNK), 0
        if not text:
            return "", 0
        place = _skip(text, place)
    return text, place


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in _SPACE:
        place += 1
    return place


def _nothing_after(read: Callable[[int], str], rest: str, name: str) -> None:
    while rest:
        if rest.strip(_SPACE):
            raise BadFile(
                N_("{file} continues after the end of its array: it is damaged or contains two files."), file=name
            )
        rest = read(CHUNK)


def _broken(name: str, number: int, why: str, cause: BaseException | None = None) -> None:
    message = N_("{file}, element {line} is not JSON, or the file ends too early ({why}).")
    raise BadFile(message, file=name, line=number, why=why) from cause
