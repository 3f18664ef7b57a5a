"""The checks of `doctor` on what the database says: its triggers, its log, and the gold labels that follow from labels.

The database is opened to read: nothing is migrated or restored, so that what was found is still there afterwards.
"""

import sqlite3
from pathlib import Path

from evenhand.annotations.database.migrations import different_triggers, named
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.derived import NAMED
from evenhand.annotations.log.verify import verify, verify_derived
from evenhand.commands.maintenance.finding import Finding
from evenhand.core.errors import N_, EvenhandError

OLDER = N_("The database has an older version: its log and gold labels can be checked after the app has opened it.")


def examine_records(path: Path) -> list[Finding]:
    """Compare triggers, log and gold labels with what they must be; [] where there is no readable database."""
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
    found = different_triggers(store.db)
    if not found:
        return Finding("triggers", "ok", N_("All triggers of the database are as in the schema."))
    if found.missing or found.changed:
        message = N_(
            "{number} triggers of the database are missing or changed ({names}). Labels that are stored meanwhile have"
            " no entry in the log. The app restores them when it opens the database: restart it."
        )
        names = (*found.missing, *found.changed)
        return Finding("triggers", "problem", message, {"number": len(names), "names": named(names)})
    message = N_("{number} triggers of the database do not belong to Evenhand ({names}). Remove those you do not know.")
    return Finding("triggers", "problem", message, {"number": len(found.unknown), "names": named(found.unknown)})


def _log(store: Store) -> Finding:
    try:
        found = verify(store)
    except EvenhandError as error:
        return Finding("log", "problem", error.message, error.values)
    if found.restored:
        entry, names = max(found.restored.items())
        message = N_(
            "The log holds: {number} entries. Triggers were missing or changed until entry {entry}, when the app"
            " restored them ({names})."
        )
        values = {"number": f"{found.entries:,}", "entry": entry, "names": named(names)}
        return Finding("log", "warning", message, values)
    return Finding("log", "ok", N_("The log holds: {number} entries."), {"number": f"{found.entries:,}"})


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
    return Finding("gold", "ok", N_("Gold label and status of every item follow from labels and decisions."))
