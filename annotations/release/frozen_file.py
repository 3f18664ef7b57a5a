"""Files of a release: written line by line, stored compressed with length and SHA-256."""

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

PART_BYTES = 1 << 20  # of a row in the database
UNPACKED_AT_ONCE = 1 << 14
PACKED_AT_ONCE = 1 << 16


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

    def lines(self) -> Iterator[str]:
        """The lines of a file of text with their ends; the whole of it is never in memory."""
        unpacker, rest = zlib.decompressobj(), b""
        for at in range(0, len(self.deflated), UNPACKED_AT_ONCE):
            *whole, rest = (rest + unpacker.decompress(self.deflated[at : at + UNPACKED_AT_ONCE])).split(b"\n")
            yield from (line.decode() + "\n" for line in whole)
        if rest:
            yield rest.decode()


class Freezing:
    """A file of text in UTF-8 that is being written; lines bring their own line ends."""

    def __init__(self, name: str) -> None:
        self.name, self._packed, self._size = name, bytearray(), 0
        self._packer, self._digest = zlib.compressobj(6), hashlib.sha256()
        self._held: list[str] = []
        self._length = 0

    def add(self, lines: Iterable[str]) -> None:
        """Write further lines; they are read once."""
        for line in lines:
            self._held.append(line)
            self._length += len(line)
            if self._length >= PACKED_AT_ONCE:
                self._pack()

    def done(self) -> FrozenFile:
        """The file, which is whole."""
        self._pack()
        self._packed += self._packer.flush()
        return FrozenFile(self.name, self._digest.hexdigest(), self._size, bytes(self._packed))

    def _pack(self) -> None:
        content = "".join(self._held).encode()
        self._held, self._length = [], 0
        self._digest.update(content)
        self._size += len(content)
        self._packed += self._packer.compress(content)


def freeze(name: str, lines: Iterable[str]) -> FrozenFile:
    """A whole file of these lines."""
    file = Freezing(name)
    file.add(lines)
    return file.done()


def pretty(values: Mapping[str, Any]) -> str:
    """One JSON object for people to read, its line end included."""
    return json.dumps(values, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
