"""Files of a release: written line by line, stored compressed with length and SHA-256."""

import hashlib
import json
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

PART_BYTES = 1 << 20  # of a row in the database
UNPACKED_AT_ONCE = 1 << 14
PACKED_AT_ONCE = 1 << 16
MOST_GIVEN = 16  # pieces of a file that wait for the thread that packs


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
    """A file of text in UTF-8 that is being written; lines bring their own line ends.

    *beside*: one thread that packs while the caller writes further lines, where there is another core for it.
    """

    def __init__(self, name: str, beside: ThreadPoolExecutor | None = None) -> None:
        self.name, self._packed, self._size = name, bytearray(), 0
        self._packer, self._digest = zlib.compressobj(6), hashlib.sha256()
        self._held: list[str] = []
        self._length = 0
        self._beside, self._given = beside, deque[Future[None]]()

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
        self._wait(0)
        self._packed += self._packer.flush()
        return FrozenFile(self.name, self._digest.hexdigest(), self._size, bytes(self._packed))

    def _pack(self) -> None:
        content = "".join(self._held).encode()
        self._held, self._length = [], 0
        if self._beside is None:
            self._take(content)
        else:
            self._given.append(self._beside.submit(self._take, content))
            self._wait(MOST_GIVEN)

    def _take(self, content: bytes) -> None:
        self._digest.update(content)
        self._size += len(content)
        self._packed += self._packer.compress(content)

    def _wait(self, most: int) -> None:
        """Until at most *most* pieces are not packed."""
        while len(self._given) > most:
            self._given.popleft().result()


def freeze(name: str, lines: Iterable[str], beside: ThreadPoolExecutor | None = None) -> FrozenFile:
    """A whole file of these lines; *beside* as of `Freezing`."""
    file = Freezing(name, beside)
    file.add(lines)
    return file.done()


def pretty(values: Mapping[str, Any]) -> str:
    """One JSON object for people to read, its line end included."""
    return json.dumps(values, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
