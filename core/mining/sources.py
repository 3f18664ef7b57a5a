"""The files that a run reads, in order: files, folders, globs, archives and their members; in which encoding they are.

UTF-8, GB18030 and Big5 are told apart on a file in which some bytes may be damaged. Strict decoding cannot tell GB18030
from Big5: nearly every Big5 text is valid GB18030, as other characters. So both are decoded and the share of common
characters decides: real Chinese text consists of them by a third or more, the same bytes read in the wrong encoding by
a few per cent. Pages read inside of one folder only, which EVENHAND_CORPUS names.
"""

import glob
import gzip
import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Literal, cast

import numpy as np

from evenhand.core.errors import N_, BadFile, NotFound, Refused
from evenhand.core.mining.report import Problem
from evenhand.core.text.sentences import refuse_noise, refuse_signature

Shape = Literal["text", "markdown", "html", "jsonl", "csv", "tsv"]

SHAPES: dict[str, Shape] = {
    ".txt": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
}
ARCHIVES = (".gz", ".zip")
# RuntimeError is what zipfile raises for a password, NotImplementedError for a way of packing that it does not know.
BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile, NotImplementedError, RuntimeError)

MISSING = N_("{file} does not exist.")
UNREADABLE = N_("{file} cannot be read: {why}.")
NOTHING_INSIDE = N_("{file} contains no text file (.txt, .md, .html, .jsonl, .csv or .tsv).")
ARCHIVE_BROKEN = N_(
    "{file} is a damaged or password-protected archive ({why}); its contents up to that point were read."
)


class Damaged(Exception):
    """An archive cannot be unpacked, or not further; says why."""


@contextmanager
def unpacking() -> Iterator[None]:
    """Only around calls of gzip and zipfile: turns their errors for a bad archive into Damaged."""
    try:
        yield
    except BROKEN as error:
        raise Damaged(str(error) or type(error).__name__) from error


@dataclass(frozen=True, slots=True)
class Text:
    """One text to read: what reports call it, its shape, how to open it again, and its size on the disk.

    A member of an archive counts with its compressed size; `expands` is how much larger it unpacks.
    """

    name: str
    shape: Shape
    open: Callable[[], IO[bytes]]
    size: int
    expands: float = 1.0


def texts(
    paths: Iterable[Path | str], problems: list[Problem], skipped: Counter[str], without: Iterable[Path] = ()
) -> Iterator[Text]:
    """Yield every text below *paths*, each file once; folders and globs in the order of their names.

    In a folder, hidden files and other endings are left alone and counted in
    *skipped*; a file that *paths* names itself is read as text with any ending.
    Unreadable files are added to *problems*. *without*: files that are not
    read, such as what an earlier run wrote into the same folder.
    """
    seen = {path.resolve() for path in without}
    for given in paths:
        for path, named in _files(str(given), problems):
            ending = path.suffix.lower()
            if not named and ending not in SHAPES and ending not in ARCHIVES:
                skipped[ending or path.name] += 1
            elif (real := path.resolve()) not in seen:
                seen.add(real)
                yield from _members(path, problems)


def _files(given: str, problems: list[Problem]) -> Iterator[tuple[Path, bool]]:
    path = Path(given).expanduser()
    if path.is_dir():
        for folder, below, names in os.walk(path):
            below[:] = sorted(name for name in below if not name.startswith("."))
            yield from ((Path(folder, name), False) for name in sorted(names) if not name.startswith("."))
    elif path.exists():
        yield path, True
    elif matches := sorted(glob.glob(str(path), recursive=True)) if glob.has_magic(given) else []:  # noqa: PTH207
        for match in matches:
            if Path(match).is_file():
                yield Path(match), True
            else:
                yield from _files(match, problems)
    else:
        problems.append(Problem(given, 0, "missing", MISSING, {"file": given}))


def _members(path: Path, problems: list[Problem]) -> Iterator[Text]:
    name = str(path)
    try:
        size = path.stat().st_size
        path.open("rb").close()
    except OSError as error:
        problems.append(Problem(name, 0, "unreadable", UNREADABLE, {"file": name, "why": error.strerror or str(error)}))
        return
    ending = path.suffix.lower()
    if ending == ".zip":
        yield from _zipped(path, problems)
    elif ending == ".gz":
        shape = SHAPES.get(path.with_suffix("").suffix.lower(), "text")
        yield Text(name, shape, lambda: _gzipped(path), size, _expands(path, size))
    else:
        yield Text(name, SHAPES.get(ending, "text"), lambda: path.open("rb"), size)


def _expands(path: Path, size: int) -> float:
    with path.open("rb") as file:
        file.seek(max(0, size - 4))
        return max(1.0, int.from_bytes(file.read(4), "little") / max(1, size))


def _gzipped(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path, "rb"))


def _zipped(path: Path, problems: list[Problem]) -> Iterator[Text]:
    try:
        with unpacking(), zipfile.ZipFile(path) as archive:
            members = sorted(archive.infolist(), key=_member_name)
    except (OSError, Damaged) as error:
        values = {"file": str(path), "why": str(error)}
        problems.append(Problem(str(path), 0, "archive", ARCHIVE_BROKEN, values))
        return
    found = False
    for member in members:
        inner = PurePosixPath(_member_name(member))
        shape = SHAPES.get(inner.suffix.lower())
        if member.is_dir() or shape is None or inner.name.startswith(".") or "__MACOSX" in inner.parts:
            continue
        found = True
        size = member.compress_size
        yield Text(f"{path}/{inner}", shape, _opener(path, member), size, max(1.0, member.file_size / max(1, size)))
    if not found:
        problems.append(Problem(str(path), 0, "empty", NOTHING_INSIDE, {"file": str(path)}))


def _opener(path: Path, member: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    def opened() -> IO[bytes]:
        with zipfile.ZipFile(path) as archive:  # the member keeps the file open for itself
            return archive.open(member)

    return opened


def _member_name(member: zipfile.ZipInfo) -> str:
    """The name in the archive; old Windows archives write it in GBK without saying so."""
    if member.flag_bits & 0x800:
        return member.filename
    try:
        return member.filename.encode("cp437").decode("gb18030")
    except UnicodeError:
        return member.filename


Encoding = Literal["utf-8", "gb18030", "big5hkscs"]

EVIDENCE = 4 << 20  # bytes beyond ASCII that decide; a file with fewer is looked at wholly
DAMAGE = 0.1  # share of damaged characters up to which UTF-8 is UTF-8
LEAST_COMMON = 0.08  # share of common characters below which a text is none of the three
FEW = 40  # characters below which that share says nothing

COMMON = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家"
    "种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民"
    "第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话"
    "這個們來為國說時會對過發後裡種經麼學現當沒動進樣開從實軍無與長機關點業將兩間問應戰頭體見產話著於裏還電車書報馬"
    "男女爸妈父母兒兄姐妹爷奶叔姨夫妻孩媽爺親，。、：；？！“”「」『』（）《》—…·　"
)


def encoding_of_corpus(chunks: Iterable[bytes], name: str) -> Encoding:
    """Return the encoding of a file from its *chunks* (read until EVIDENCE bytes beyond ASCII were seen).

    Raises BadFile where the bytes are not text, or in none of the three encodings.
    """
    sample, beyond = [], 0
    for number, chunk in enumerate(chunks):
        if number == 0:
            refuse_signature(chunk, name)
        if b"\0" in chunk:
            raise BadFile(N_("{file} is not a text file: it contains NUL bytes (binary data or UTF-16)."), file=name)
        if number == 0:
            refuse_noise(chunk[:4096].decode("latin-1").replace("\x85", ""), name)
        if chunk.isascii():
            continue
        sample.append(chunk)
        beyond += int(np.count_nonzero(np.frombuffer(chunk, dtype=np.uint8) > 127))
        if beyond >= EVIDENCE:
            break
    return decide(b"".join(sample), name)


def decide(data: bytes, name: str) -> Encoding:
    """Return which of the three encodings *data* is in; pure ASCII is UTF-8. Raises BadFile where none fits."""
    try:
        data.decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError:
        pass
    text = data.decode("utf-8", "replace")
    wide = sum(character > "\x7f" for character in text)
    broken = text.count("\ufffd") - data.count(b"\xef\xbf\xbd")
    if broken <= DAMAGE * wide:
        return "utf-8"
    shares: dict[Encoding, float] = {one: _common(data, one) for one in ("gb18030", "big5hkscs")}
    best: Encoding = max(shares, key=lambda one: shares[one])
    if shares[best] < LEAST_COMMON and not (wide < FEW and _strict(data, "gb18030")):
        message = N_("{file} is not UTF-8, GB18030 or Big5 text. Save it as UTF-8 and try again.")
        raise BadFile(message, file=name)
    return best


def _common(data: bytes, encoding: Encoding) -> float:
    """Return the share of common characters among those beyond ASCII that *encoding* makes of *data*."""
    wide = [character for character in data.decode(encoding, "replace") if character > "\x7f"]
    return sum(character in COMMON for character in wide) / len(wide) if wide else 0.0


def _strict(data: bytes, encoding: Encoding) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


VARIABLE = "EVENHAND_CORPUS"
ENDINGS = (*SHAPES, *ARCHIVES)
MOST_FOLDERS = 2_000  # listed for a choice


@dataclass(frozen=True, slots=True)
class Survey:
    """What a folder or file holds: readable files, their bytes, and how many there are of each ending."""

    files: int
    bytes: int
    endings: dict[str, int]


def root() -> Path | None:
    """Return the folder that EVENHAND_CORPUS names, with links resolved; None if it names no folder."""
    named = os.environ.get(VARIABLE, "").strip()
    if not named:
        return None
    place = Path(named).expanduser()
    return place.resolve() if place.is_dir() else None


def inside(root: Path, typed: str) -> Path:
    """The folder or file *typed*, relative to *root*; `..`, absolute paths and links are followed before it is judged.

    Raises Refused where it leads out of *root*, or a link below it does, NotFound where it is not there.
    """
    if "\0" in typed:
        raise Refused(N_("The path contains a null character. Enter another path."))
    place = (root / typed.strip().lstrip("/")).resolve()
    if place != root and root not in place.parents:
        raise Refused(N_("{path} is outside the corpus folder; only files inside it can be read."), path=typed)
    if not place.exists():
        raise NotFound(N_("{path} does not exist in the corpus folder."), path=typed)
    refuse_links_out(root, place)
    return place


def refuse_links_out(root: Path, place: Path) -> None:
    """Raises Refused where a link below *place* leads out of *root*."""
    for path in _walk(place):
        if path.is_symlink():
            target = path.resolve()
            if target != root and root not in target.parents:
                shown = path.relative_to(root) if root in path.parents else path.name
                message = N_("{path} links outside the corpus folder; choose another file or folder.")
                raise Refused(message, path=str(shown))


def _walk(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
        return
    for folder, folders, files in os.walk(place, followlinks=False):
        folders.sort()
        yield from (Path(folder, name) for name in sorted([*folders, *files]))


def folders(root: Path) -> list[str]:
    """Return the folders below *root* by their relative names, "" for itself; links are not followed."""
    result = [""]
    for folder, below, _files in os.walk(root, followlinks=False):
        below[:] = sorted(name for name in below if not name.startswith(".") and not Path(folder, name).is_symlink())
        result += [str(Path(folder, name).relative_to(root)) for name in below]
        if len(result) > MOST_FOLDERS:
            break
    return sorted(result[:MOST_FOLDERS])


def files(place: Path, most: int) -> list[tuple[str, int]]:
    """The first *most* files below *place* that can be read: relative name and bytes, in the order of reading."""
    result = []
    for path in _walk(place):
        if path.suffix.lower() in ENDINGS and path.is_file():
            shown = path.name if path == place else str(path.relative_to(place))
            result.append((shown, path.stat().st_size))
            if len(result) == most:
                break
    return result


def survey(place: Path) -> Survey:
    """Return the number, size in bytes and endings of the readable files in *place*."""
    endings: Counter[str] = Counter()
    size = 0
    for path in _walk(place):
        ending = path.suffix.lower()
        if ending in ENDINGS and path.is_file():
            endings[ending] += 1
            size += path.stat().st_size
    return Survey(endings.total(), size, dict(endings.most_common()))
