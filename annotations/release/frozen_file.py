"""Files of a release: written line by line, stored compressed with length and SHA-256."""

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

PART_BYTES = 1 << 20  # of a row in the database


@dataclass(frozen=True, slots=True)
class FrozenFile:
    """One file of a release. `size`: its bytes, `deflated`: its content as zlib packs it."""

    name: str
    sha256: str
    size: int
    deflated: bytes

    def parts(self) -> list[bytes]:
        """The packed content in pieces of at most 1 MB; an empty file has one."""
        return [self.deflated[at : at + PART_BYTES] for at in range(0, len(self.deflated), PART_BYTES)]

    def content(self) -> bytes:
        """The file itself."""
        return zlib.decompress(self.deflated)


def freeze(name: str, lines: Iterable[str]) -> FrozenFile:
    """A file of text in UTF-8; *lines* bring their own line ends and are read once."""
    packer, digest, length = zlib.compressobj(6), hashlib.sha256(), 0
    packed = bytearray()
    for some in _batches(lines):
        digest.update(some)
        length += len(some)
        packed += packer.compress(some)
    packed += packer.flush()
    return FrozenFile(name, digest.hexdigest(), length, bytes(packed))


def _batches(lines: Iterable[str], size: int = 1 << 16) -> Iterable[bytes]:
    held: list[str] = []
    length = 0
    for line in lines:
        held.append(line)
        length += len(line)
        if length >= size:
            yield "".join(held).encode()
            held, length = [], 0
    yield "".join(held).encode()


def pretty(values: Mapping[str, Any]) -> str:
    """One JSON object for people to read, its line end included."""
    return json.dumps(values, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
