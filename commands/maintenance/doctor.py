"""The checks of `doctor`: is everything present, does it work, and do gold labels and log follow from the labels?

The database is opened to read: nothing is migrated or restored, so that what was found is still there afterwards.
"""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from evenhand.annotations.database.backup import check
from evenhand.annotations.database.migrations import different_triggers, named
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.check_derived import NAMED
from evenhand.annotations.log.verify import verify, verify_derived
from evenhand.commands.maintenance.deployment import Finding, examine_deployment
from evenhand.core.errors import N_, EvenhandError
from evenhand.core.models.catalogue import BUILTIN, known_models
from evenhand.core.resources import ROOT

OLDER = N_("The database has an older version: its log and gold labels can be checked after the app has opened it.")


def examine_records(path: Path) -> list[Finding]:
    """Compare triggers, log and gold labels with what they must be; [] if the database cannot be read."""
    if not path.is_file():
        return []
    try:
        with Store.reading(path) as store:
            if not store.is_current():
                return [Finding("log", "warning", OLDER)]
            return [_triggers(store), _log(store), _gold(store)]
    except (EvenhandError, OSError, sqlite3.Error):
        return []  # the check of the database says what is wrong with it


def _triggers(store: Store) -> Finding:
    differences = different_triggers(store.db)
    if not differences:
        return Finding("triggers", "ok", N_("All database triggers match the schema."))
    if differences.missing or differences.changed:
        message = N_(
            "{number} triggers of the database are missing or changed ({names}). Labels stored in the meantime have no"
            " entry in the log. The app restores the triggers when it opens the database: restart it."
        )
        names = (*differences.missing, *differences.changed)
        return Finding("triggers", "problem", message, {"number": len(names), "names": named(names)})
    message = N_(
        "{number} triggers of the database do not belong to Evenhand ({names}). Remove those you do not recognise."
    )
    return Finding(
        "triggers", "problem", message, {"number": len(differences.unknown), "names": named(differences.unknown)}
    )


def _log(store: Store) -> Finding:
    try:
        verified = verify(store)
    except EvenhandError as error:
        return Finding("log", "problem", error.message, error.values)
    if verified.restored:
        entry, names = max(verified.restored.items())
        message = N_(
            "The log is valid: {number} entries. Triggers were missing or changed until entry {entry}, when the app"
            " restored them ({names})."
        )
        values = {"number": f"{verified.entries:,}", "entry": entry, "names": named(names)}
        return Finding("log", "warning", message, values)
    return Finding("log", "ok", N_("The log is valid: {number} entries."), {"number": f"{verified.entries:,}"})


def _gold(store: Store) -> Finding:
    results = verify_derived(store)
    items = [state.item for result in results for state in result.items]
    if items:
        message = N_(
            "In {number} items the stored gold label or status does not follow from the labels and decisions ({items})."
            " The database was changed outside the app: restore a backup, or run `project recount`."
        )
        names = ", ".join(items[:NAMED]) + (" ..." if len(items) > NAMED else "")
        return Finding("gold", "problem", message, {"number": f"{len(items):,}", "items": names})
    if wrong := [result.project for result in results if result.counts]:
        message = N_("Derived counts of these projects are wrong: {names}. Run `project recount` for each.")
        return Finding("gold", "problem", message, {"names": ", ".join(wrong)})
    if waiting := [result.project for result in results if result.recounting]:
        message = N_("These projects are being recounted after a change of settings: {names}. Check them afterwards.")
        return Finding("gold", "warning", message, {"names": ", ".join(waiting)})
    return Finding("gold", "ok", N_("The gold label and status of every item follow from its labels and decisions."))


OLDEST, TOO_NEW = (3, 11), (3, 14)
FEW_BYTES, TOO_FEW_BYTES = 2_000_000_000, 100_000_000
CHINESE_FONTS = re.compile(
    r"noto.*cjk|source-?han|wqy|wenquanyi|droidsansfallback|uming|ukai|pingfang|simsun|msyh", re.I
)


def examine(database: Path, *, worker: bool = True) -> list[Finding]:
    """Run all checks in the order of need; `worker`: also start the inference worker."""
    checks: list[Callable[[], Finding]] = [
        _python,
        _packages,
        lambda: _database(database),
        lambda: _disk(database),
        _models,
        _fonts,
        _browser,
    ]
    findings = [*(one() for one in checks), *examine_records(database), *examine_deployment(database)]
    return [*findings, _worker()] if worker else findings


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if OLDEST <= sys.version_info[:2] < TOO_NEW:
        return Finding("python", "ok", N_("Python {version} is supported."), {"version": version})
    message = N_("Python {version}: Evenhand needs 3.11, 3.12 or 3.13. Create a new .venv with one of these.")
    return Finding("python", "problem", message, {"version": version})


def _packages() -> Finding:
    file = ROOT / "requirements.txt"
    if not file.is_file():
        message = N_("requirements.txt is missing, so the packages cannot be compared with the pinned versions.")
        return Finding("packages", "warning", message)
    wanted = dict(re.findall(r"^([\w.-]+)==(\S+)$", file.read_text(encoding="utf-8"), re.M))
    wrong = []
    for name, version in wanted.items():
        try:
            text = metadata.version(name).split("+")[0]  # torch 2.13.0+cpu is torch 2.13.0
        except metadata.PackageNotFoundError:
            text = "-"
        if text != version:
            wrong.append(f"{name} {text} ({version})")
    if wrong:
        message = N_("These packages differ from requirements.txt: {packages}. Run `make app` or install them again.")
        return Finding("packages", "problem", message, {"packages": ", ".join(wrong)})
    return Finding("packages", "ok", N_("{number} packages, all as pinned."), {"number": len(wanted)})


def _database(path: Path) -> Finding:
    if not path.exists():
        return Finding("database", "ok", N_("{path} does not exist yet; the app will create it."), {"path": str(path)})
    try:
        snapshot = check(path)
    except EvenhandError as error:
        return Finding("database", "problem", error.message, error.values)
    values = {"path": str(path), "projects": snapshot.projects, "items": snapshot.items, "labels": snapshot.labels}
    message = N_("{path} is intact: {projects} projects, {items} items, {labels} labels.")
    return Finding("database", "ok", message, values)


def _disk(database: Path) -> Finding:
    folder = database.resolve().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        message = N_("The database folder {folder} is not writable.")
        return Finding("disk", "problem", message, {"folder": str(folder)})
    free = shutil.disk_usage(folder).free
    values = {"gigabytes": f"{free / 1e9:.1f}"}
    if free < TOO_FEW_BYTES:
        return Finding(
            "disk", "problem", N_("Only {gigabytes} GB free: labels may fail to be stored. Free up disk space."), values
        )
    if free < FEW_BYTES:
        return Finding("disk", "warning", N_("Only {gigabytes} GB are free; backups and models need more."), values)
    return Finding("disk", "ok", N_("{gigabytes} GB are free."), values)


def _models() -> Finding:
    missing = [entry.name for entry in known_models(None) if entry.builtin and not entry.available]
    if missing:
        message = N_("These built-in models are missing: {names}. Download the complete project again, or train them.")
        return Finding("models", "problem", message, {"names": ", ".join(missing)})
    values = {
        "names": ", ".join(BUILTIN),
        "number": sum(1 for e in known_models(None) if e.available and not e.builtin),
    }
    return Finding("models", "ok", N_("Built-in models: {names}; {number} others can be used offline."), values)


def _fonts() -> Finding:
    if _has_chinese_font():
        return Finding("fonts", "ok", N_("A font with Chinese characters is available for chart images."))
    message = N_(
        "No font with Chinese characters was found, so charts saved as PNG will show boxes. Install fonts-noto-cjk."
    )
    return Finding("fonts", "warning", message)


def _has_chinese_font() -> bool:
    if command := shutil.which("fc-list"):
        # Its first call reads every font, which takes long on a slow disk.
        with suppress(subprocess.TimeoutExpired):
            asked = [command, ":lang=zh", "family"]
            listed = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=False)
            if listed.stdout.strip():
                return True
    folders = (
        "/usr/share/fonts",
        "/usr/local/share/fonts",
        "/System/Library/Fonts",
        "~/.fonts",
        "~/.local/share/fonts",
    )
    files = (file for folder in folders for file in Path(folder).expanduser().rglob("*.?t?"))
    return any(CHINESE_FONTS.search(file.name) for file in files)


def _browser() -> Finding:
    named = os.environ.get("EVENHAND_CHROMIUM")
    if named and not Path(named).is_file():
        message = N_("EVENHAND_CHROMIUM points to {path}, which does not exist; the browser tests need it.")
        return Finding("browser", "warning", message, {"path": named})
    result = named or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if result:
        return Finding("browser", "ok", N_("{path} is available for the browser tests."), {"path": result})
    message = N_("No Chromium was found. Only the browser tests need it; the app opens in any browser.")
    return Finding("browser", "warning", message)


def _worker() -> Finding:
    from evenhand.core.types import MASK, MaskedSentence
    from evenhand.core.worker.client import Inference, RemoteScorer

    inference = Inference()
    try:
        probe = MaskedSentence(MASK + "在这里。", 0, len(MASK), ("他", "她"))
        score = RemoteScorer(inference, "known").score([probe])[0]
    except EvenhandError as error:
        return Finding("worker", "problem", error.message, error.values)
    finally:
        inference.close()
    message = N_("The inference worker starts and responds ({signature}).")
    return Finding("worker", "ok", message, {"signature": score.signature})
