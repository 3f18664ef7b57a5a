"""The folder of texts on the server that pages may read, and nothing outside of it."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evenhand.core.errors import N_, NotFound, Refused
from evenhand.core.mining.sources import ARCHIVES, SHAPES

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
    """The folder that EVENHAND_CORPUS names, as it really is; None where it names none."""
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
        raise Refused(N_("This is not a path."))
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
    """The folders below *root* by their relative names, "" for itself; links are not followed."""
    found = [""]
    for folder, below, _files in os.walk(root, followlinks=False):
        below[:] = sorted(name for name in below if not name.startswith(".") and not Path(folder, name).is_symlink())
        found += [str(Path(folder, name).relative_to(root)) for name in below]
        if len(found) > MOST_FOLDERS:
            break
    return sorted(found[:MOST_FOLDERS])


def files(place: Path, most: int) -> list[tuple[str, int]]:
    """The first *most* files below *place* that can be read: relative name and bytes, in the order of reading."""
    found = []
    for path in _walk(place):
        if path.suffix.lower() in ENDINGS and path.is_file():
            shown = path.name if path == place else str(path.relative_to(place))
            found.append((shown, path.stat().st_size))
            if len(found) == most:
                break
    return found


def survey(place: Path) -> Survey:
    """What *place* holds that can be read."""
    endings: Counter[str] = Counter()
    size = 0
    for path in _walk(place):
        ending = path.suffix.lower()
        if ending in ENDINGS and path.is_file():
            endings[ending] += 1
            size += path.stat().st_size
    return Survey(endings.total(), size, dict(endings.most_common()))
