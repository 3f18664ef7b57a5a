"""How an answer is remembered: what makes two probes the same question, and numbers as bytes with a checksum."""

import struct
import zlib
from collections.abc import Sequence
from typing import Any

from core.types import MaskedSentence


class Damaged(Exception):
    """What was remembered is not what was written."""


def probe_identity(probe: MaskedSentence) -> str:
    """What a model sees of a probe: equal for a sentence with 他 and the same sentence with 她.

    The word in the slot is hidden, so it does not count; text before and after it, options and hidden parts do.
    """
    if probe.hidden:  # rare, and their places depend on the length of what stands in the slot
        return repr((probe.text, probe.start, probe.end, probe.options, probe.hidden))
    return repr((probe.text[: probe.start], probe.text[probe.end :], probe.start < probe.end, probe.options))


_PAIR = struct.Struct("<ddI")  # nearly every answer: two options and the checksum


def packed(key: bytes, logprobs: Sequence[float | None]) -> bytes:
    """The numbers of an answer as bytes, None as NaN."""
    # SQLite does not notice a flipped bit inside a value; the sum over key and value does.
    numbers = struct.pack(f"<{len(logprobs)}d", *(float("nan") if p is None else p for p in logprobs))
    return numbers + zlib.crc32(key + numbers).to_bytes(4, "little")


def unpacked(key: bytes, answer: Any) -> tuple[float | None, ...]:
    """The numbers of an answer, exactly. Raises Damaged where they are not those that were written."""
    if not isinstance(answer, bytes) or len(answer) % 8 != 4:
        raise Damaged
    numbers = answer[:-4]
    if len(answer) == _PAIR.size:
        first, second, check = _PAIR.unpack(answer)
        if zlib.crc32(key + numbers) == check and first == first and second == second:
            return first, second
    if zlib.crc32(key + numbers).to_bytes(4, "little") != answer[-4:]:
        raise Damaged
    return tuple(None if p != p else p for p in struct.unpack(f"<{len(numbers) // 8}d", numbers))
