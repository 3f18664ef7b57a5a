"""What the log holds of each table, and its triggers: a chain of hashes over what changes labels, settings and people.

Never edit what has been released. A column that a later version adds to one of these tables needs a kind of its own
here and triggers that write it: entries keep the columns with which they were hashed.

Triggers write the log, so no program can store a label without its entry. The functions `log_...` are those of
annotations/database/hash_chain.py, and a connection without them can write none of these tables.
"""

from typing import NamedTuple

EMPTY = "('', '[]', '{}')"  # texts that identify no person: they have no salt
ITEM = "(SELECT {part} FROM item WHERE id = {{r}}.item)"
UID = "(SELECT uid FROM {table} WHERE id = {{r}}.{column})"


class Kind(NamedTuple):
    """A table of which each row has entries in the log.

    `key`: names a row. `columns`: what is hashed, an expression each, with {r} for the row; a column that begins with ~
    is a text with a salt. `watched`: the columns that may change; none: rows are appended and never change. `when`: the
    rows that count. `own`: whose own chain an entry belongs to. `beside`: hashed too, but not part of the own chain.
    `removed`: rows are deleted again, which has an entry; of another table a row that is gone is a row that is missing.
    """

    table: str
    key: str
    columns: tuple[str, ...]
    watched: tuple[str, ...] = ()
    when: str = "1"
    own: str = ""
    beside: str = "NULL"
    removed: bool = False

    @property
    def texts(self) -> list[str]:
        """The columns with a salt."""
        return [column[1:] for column in self.columns if column.startswith("~")]


def uids(*names: str) -> tuple[str, ...]:
    """Return SQL for public ids in place of row ids: "item", or "annotator thread" for another column name."""
    pairs = [(name.split() * 2)[:2] for name in names]
    return tuple(UID.format(table=table, column=column) for table, column in pairs)


def named(columns: str) -> tuple[str, ...]:
    """Return SQL for the columns of a row by name; ~ is before a text with a salt."""
    return tuple(f"~{{r}}.{one[1:]}" if one.startswith("~") else f"{{r}}.{one}" for one in columns.split())


TEXT = ITEM.format(part="log_text(x'', log_row(text, context, start, stop))")
VERSION = "(SELECT version FROM guideline WHERE id = {r}.guideline)"
_OF_RETEST = "(SELECT {part} FROM retest WHERE id = {{r}}.retest)"
_RETEST_UID, _RETEST_OF, _RETEST_ITEM = (_OF_RETEST.format(part=part) for part in ("uid", "annotator", "item"))
_SAID = named(
    "choice reasons ~tags extraneous spans ~note seconds form_shown desk revision base superseded created app"
)
_FILES = (
    "(SELECT group_concat(line, char(10)) FROM (SELECT name || ' ' || part || ' ' || sha256 || ' ' || bytes AS line"
    " FROM release_file WHERE release = {r}.id ORDER BY name, part))"
)
_REVIEWED = (
    "(SELECT log_text(x'', ifnull(group_concat(item || ' ' || status || ' ' || ifnull(gold, '')), '')) FROM"
    " (SELECT * FROM release_item WHERE release = {r}.id ORDER BY item))"
)
_SETTINGS = (
    "uid name kind language per_item gold presentation opinion_model seed created archived rescue checked blur"
    " pause_minutes open_text doubled plan share retest retest_hours licence source_statement"
)

_FIRST: tuple[Kind, ...] = (
    # Appended: an entry a row.
    Kind(
        "label", "{r}.id",
        ("{r}.op_id", *uids("project", "item", "annotator"), VERSION, "{r}.after_reveal", *_SAID),
        own="{r}.annotator", beside=f"log_row({{r}}.id, {TEXT})",
    ),
    Kind(
        "retest_label", "{r}.id",
        ("{r}.op_id", _RETEST_UID, UID.format(table="annotator", column="X").replace("{r}.X", _RETEST_OF),
         VERSION, "{r}.skip", *_SAID),
        own=_RETEST_OF, beside=f"log_row({{r}}.id, {_RETEST_ITEM})",
    ),
    Kind(
        "skip", "{r}.op_id",
        ("{r}.op_id", *uids("item", "annotator"), *named("desk revision base superseded created")),
        own="{r}.annotator",
    ),
    Kind(
        "settlement", "{r}.id",
        ("{r}.op_id", *uids("project", "item"),
         *named("~adjudicator action choice reasons extraneous spans ~why seen created")),
    ),
    Kind(
        "comment", "{r}.id",
        ("{r}.op_id", *uids("project", "item", "annotator", "annotator thread"), *named("~author ~text created")),
    ),
    Kind(
        "known", "{r}.id",
        (*uids("project", "item"), *named("choice after ~why ~author created")),
    ),
    Kind("guideline", "{r}.id", (*uids("project"), *named("version text choices reasons changes created"))),
    Kind(
        "event", "{r}.id",
        (*uids("project", "item", "annotator"), *named("action ~data ~author created")),
    ),
    Kind("account_event", "{r}.id", (*uids("account", "account author"), *named("action ~data created"))),
    Kind("label_of_file", "{r}.file || '/' || {r}.label", named("file label")),
    Kind(
        "release", "{r}.id",
        ("{r}.uid", *uids("project"), *named("version hash items labels facts ~author created"), _FILES, _REVIEWED),
        when="{r}.whole = 1",
    ),
    Kind("scrubbed", "{r}.kind || '/' || {r}.row || '/' || {r}.part", named("kind row part hash text")),
    # Changing: an entry a change, which holds the row before and after it.
    Kind(
        "project", "{r}.id", named(_SETTINGS), watched=tuple(_SETTINGS.split()),
    ),
    Kind("annotator", "{r}.id", ("{r}.uid", "~{r}.name"), watched=("uid", "name")),
    Kind("member", "{r}.project || '/' || {r}.annotator", ("{r}.active",), watched=("active",)),
    Kind(
        "account", "{r}.id",
        ("{r}.uid", "~{r}.name", "log_text(x'', {r}.password)", *named("annotator version closed created")),
        watched=("uid", "name", "password", "annotator", "version", "closed", "created"),
    ),
    Kind(
        "account_role", "{r}.account || '/' || ifnull({r}.project, 0)", ("{r}.role",), watched=("role",), removed=True,
    ),
    Kind(
        "assignment", "{r}.item || '/' || {r}.annotator", named("latest blind revealed kept"),
        watched=("latest", "blind", "revealed", "kept"),
        when="({r}.latest IS NOT NULL OR {r}.blind IS NOT NULL OR {r}.revealed IS NOT NULL OR {r}.kept = 1)",
    ),
    Kind(
        "retest", "{r}.id", named("item annotator first latest"), watched=("item", "annotator", "first", "latest"),
        when="({r}.first IS NOT NULL OR {r}.latest IS NOT NULL)",
    ),
    Kind("pilot", "{r}.id", named("project number items people seed begun closed"), watched=("people", "closed")),
    Kind(
        "label_file", "{r}.id", named("project file program sha256 created undone"),
        watched=("project", "file", "program", "sha256", "created", "undone"),
    ),
)  # fmt: skip

# Of studies the log says which pseudonym agreed to which text, never whose it is: outside ids are in `study_identity`,
# have no entry, and are erased.
_STUDY = (
    "uid project name service items places reward currency floor minutes pause cover questions pass_mark keep_days"
    " contact warning_en warning_zh created closed"
)
_PERSON = "uid study annotator state consent consent_language consent_hash consented tries right completed ended"

_STUDIES: tuple[Kind, ...] = (
    Kind("study_consent", "{r}.id", named("study version en zh created")),
    Kind("study", "{r}.id", named(_STUDY), watched=tuple(_STUDY.split())),
    Kind("study_person", "{r}.id", named(_PERSON), watched=tuple(_PERSON.split())),
)

_JUDGES: tuple[Kind, ...] = (
    Kind(
        "judge",
        "{r}.id",
        (
            "{r}.uid",
            *uids("project"),
            VERSION,
            *named("name kind model address system prompt settings hash signature created"),
        ),
    ),
    Kind(
        "judge_label",
        "{r}.id",
        (*uids("judge", "item"), *named("round choice extraneous spans shares samples answered created")),
        beside=f"log_row({{r}}.id, {TEXT})",
    ),
    Kind("judge_margin", "{r}.id", (*uids("judge"), *named("eps labels created"))),
)

_PROJECT = (
    "(SELECT project.uid FROM guideline JOIN project ON project.id = guideline.project"
    " WHERE guideline.id = {r}.guideline)"
)

_SCHEMES: tuple[Kind, ...] = (Kind("scheme", "{r}.guideline", (_PROJECT, VERSION, "{r}.content")),)

_NUMBER = "(SELECT number FROM sample WHERE id = {r}.sample)"

_SAMPLES: tuple[Kind, ...] = (
    Kind(
        "sample", "{r}.id", (*uids("project"), *named("number design items share settings seed created closed")),
        watched=("closed",),
    ),
    Kind("inclusion", "{r}.id", (_NUMBER, *uids("item"), *named("probability stratum drawn")), beside=TEXT),
)  # fmt: skip

_CONSENTS: tuple[Kind, ...] = (
    Kind(
        "label_consent", "{r}.id",
        (*uids("project", "annotator"), *named("use given recorded_by language text created")),
    ),
)  # fmt: skip

_CHANGING = ("value", "recorded_by", "created")

_GROUPS: tuple[Kind, ...] = (
    Kind("grouping", "{r}.id", (*uids("project"), *named("name options created"))),
    Kind(
        "annotator_group", "{r}.id", (*uids("annotator"), *named("grouping ~value recorded_by created")),
        watched=_CHANGING, removed=True,
    ),
)  # fmt: skip

_SECOND = ITEM.format(part="log_text(x'', second)")

_COMPARISONS: tuple[Kind, ...] = (
    Kind("left_text", "{r}.op_id", ("{r}.op_id", *uids("item"), *named("place")), beside=_SECOND),
    Kind("judge_order", "{r}.label", ("{r}.label", *uids("item"), *named("place")), beside=_SECOND),
)

_STUDY_USES: tuple[Kind, ...] = (
    Kind("study_use", "{r}.id", named("consent use")),
    Kind("study_answer", "{r}.id", named("person use given text")),
)

_IMPORTED_GOLD: tuple[Kind, ...] = (
    Kind("imported_gold", "{r}.id", (*uids("project", "item"), *named("file gold holds label settlement created"))),
)

# The kinds of each version that begins the log of some tables, by the name of its migration.
KINDS_BY_VERSION: dict[str, tuple[Kind, ...]] = {
    "m007_log": _FIRST,
    "m011_study_log": _STUDIES,
    "m012_judges": _JUDGES,
    "m013_schemes": _SCHEMES,
    "m014_sampling": _SAMPLES,
    "m015_consent": _CONSENTS,
    "m016_groups": _GROUPS,
    "m017_comparisons": _COMPARISONS,
    "m018_study_uses": _STUDY_USES,
    "m020_imported_gold": _IMPORTED_GOLD,
}
KINDS = tuple(kind for kinds in KINDS_BY_VERSION.values() for kind in kinds)


def _name(text: str) -> str:
    """Return the name of a column with a salt."""
    return text.partition(".")[2]


def salt_of(kind: Kind, row: str, text: str) -> str:
    """Return SQL for the part under which the salt of a text is stored."""
    return f"'{_name(text)}:' || {text.format(r=row)}" if kind.watched else f"'{_name(text)}'"


def content(kind: Kind, row: str, *, scrubbed: bool = False) -> str:
    """Return SQL for the hashed content of a row: JSON, or NULL for a row outside the log.

    *row*: NEW, OLD, or the alias of its table; `scrubbed`: scrubbed texts count with their former hash.
    """
    values = []
    for column in kind.columns:
        if not column.startswith("~"):
            values.append(column.format(r=row))
            continue
        text, key = column[1:].format(r=row), kind.key.format(r=row)
        where = f"kind = '{kind.table}' AND row = {key} AND part = {salt_of(kind, row, column[1:])}"
        salted = f"iif({text} IN {EMPTY}, '', log_text((SELECT salt FROM log_salt WHERE {where}), {text}))"
        values.append(f"ifnull((SELECT hash FROM scrubbed WHERE {where}), {salted})" if scrubbed else salted)
    return f"iif({kind.when.format(r=row)}, log_row({', '.join(values)}), NULL)"


def _salts(kind: Kind, row: str, source: str = "") -> str:
    """Return statements that give each text of a row a salt, once."""
    statements = []
    for text in kind.texts:
        one, key, part = text.format(r=row), kind.key.format(r=row), salt_of(kind, row, text)
        there = f"SELECT 1 FROM log_salt WHERE kind = '{kind.table}' AND row = {key} AND part = {part}"
        once = f" AND NOT EXISTS ({there})" if kind.watched else ""
        statements.append(
            f"INSERT INTO log_salt SELECT '{kind.table}', {key}, {part}, randomblob(16){source}"
            f" WHERE {one} NOT IN {EMPTY}{once};"
        )
    return "\n    ".join(statements)


def _entry(kind: Kind, row: str, text: str, *, body: bool) -> str:
    """Return a statement that appends the entry of a row; *text* is SQL for its hashed content."""
    own = kind.own.format(r=row) if kind.own else "NULL"
    before = f"(SELECT own FROM log WHERE annotator = {own} ORDER BY id DESC LIMIT 1)" if kind.own else "NULL"
    chained = "log_hash(own_before, text)" if kind.own else "NULL"
    # LIMIT within, WHERE without: SQLite does not merge such queries, so each value within is worked out once.
    return (
        "INSERT INTO log (id, kind, row, at, body, annotator, own, hash)"
        f" SELECT next, '{kind.table}', key, at, {'text' if body else 'NULL'}, who, {chained},"
        f" log_hash(before, next, '{kind.table}', key, at, text, beside, {chained})"
        " FROM (SELECT id + 1 AS next, hash AS before, log_now() AS at,"
        f" {kind.key.format(r=row)} AS key, {text} AS text, {kind.beside.format(r=row)} AS beside,"
        f" {own} AS who, {before} AS own_before"
        " FROM log ORDER BY id DESC LIMIT 1) WHERE text IS NOT NULL;"
    )


def _appended(kind: Kind) -> str:
    written = f"{_salts(kind, 'NEW')}\n    {_entry(kind, 'NEW', content(kind, 'NEW'), body=False)}"
    script = f"CREATE TRIGGER log_{kind.table} AFTER INSERT ON {kind.table}\nBEGIN\n    {written}\nEND;\n"
    if kind.table == "release":  # written in many transactions, and part of the log once it is whole
        script = script.replace(" AFTER INSERT ON release\n", " AFTER UPDATE OF whole ON release WHEN OLD.whole = 0\n")
    return script


def _changing(kind: Kind) -> str:
    table, script = kind.table, ""
    differs = " OR ".join(f"OLD.{column} IS NOT NEW.{column}" for column in kind.watched)
    moved = f"nullif(log_change({content(kind, 'OLD')}, {content(kind, 'NEW')}), '')"
    for name, when, row, text in (  # each opening of the database reads all triggers: only the needed ones
        ("inserted", "AFTER INSERT ON", "NEW", f"nullif(log_change(NULL, {content(kind, 'NEW')}), '')"),
        ("updated", f"AFTER UPDATE OF {', '.join(kind.watched)} ON", "NEW", moved),
        ("deleted", "AFTER DELETE ON", "OLD", f"nullif(log_change({content(kind, 'OLD')}, NULL), '')"),
    ):
        if name == "deleted" and not kind.removed:
            continue
        salts = _salts(kind, "NEW") if row == "NEW" else ""
        condition = f" WHEN {differs}" if name == "updated" else ""
        script += (
            f"CREATE TRIGGER log_{table}_{name} {when} {table}{condition}\nBEGIN\n    {salts}\n"
            f"    {_entry(kind, row, text, body=True)}\nEND;\n"
        )
    return script


def _guard(kind: Kind, columns: list[str], why: str) -> str:
    """Return triggers that keep a row unchanged, except for a text that is scrubbed."""
    texts = [_name(text) for text in kind.texts]
    fixed = ", ".join(column for column in columns if column not in texts)
    script = f"DROP TRIGGER {kind.table}_is_never_changed;\n"
    # A frozen release is told apart from one that is being written.
    frozen = "OLD.whole = 1 AND " if kind.table == "release" else ""
    condition = " WHEN OLD.whole = 1" if frozen else ""
    script += (
        f"CREATE TRIGGER {kind.table}_is_never_changed BEFORE UPDATE OF {fixed} ON {kind.table}{condition}"
        f" BEGIN SELECT RAISE(ABORT, '{why}'); END;\n"
    )
    for text in texts:
        allowed = (
            f"SELECT text FROM scrubbed WHERE kind = '{kind.table}' AND row = {kind.key.format(r='OLD')}"
            f" AND part = '{text}'"
        )
        script += (
            f"CREATE TRIGGER {kind.table}_{text}_is_never_changed BEFORE UPDATE OF {text} ON {kind.table}"
            f" WHEN {frozen}NEW.{text} IS NOT OLD.{text} AND NEW.{text} IS NOT ({allowed})"
            f" BEGIN SELECT RAISE(ABORT, '{why}'); END;\n"
        )
    return script


def _scrubbing(kind: Kind) -> str:
    """Return triggers that replace a text by the words of a row of `scrubbed` and destroy its salt."""
    script = ""
    for text in [] if kind.watched else kind.texts:
        part, this = _name(text), kind.key.format(r=kind.table)
        script += (
            f"CREATE TRIGGER scrubbed_{kind.table}_{part} AFTER INSERT ON scrubbed"
            f" WHEN NEW.kind = '{kind.table}' AND NEW.part = '{part}'\nBEGIN\n"
            f"    UPDATE {kind.table} SET {part} = NEW.text WHERE {this} = NEW.row;\n"
            f"    DELETE FROM log_salt WHERE kind = NEW.kind AND row = NEW.row AND part = NEW.part;\nEND;\n"
        )
    return script


WHY = {
    "label": "labels are appended, never changed",
    "retest_label": "labels are appended, never changed",
    "settlement": "settlements are appended, never changed",
    "comment": "comments are appended, never changed",
    "known": "known answers are appended, never changed",
    "event": "events are appended, never changed",
    "account_event": "events are appended, never changed",
    "release": "a release never changes",
}


def salts_of_rows(kinds: tuple[Kind, ...]) -> str:
    """Return statements that give a salt to the texts of rows that are older than the log."""
    script = ""
    for kind in kinds:
        script += _salts(kind, kind.table, f" FROM {kind.table}") + "\n" if kind.texts else ""
    return script


def triggers(kinds: tuple[Kind, ...], columns: dict[str, list[str]]) -> str:
    """Return the triggers that write the log and those that guard it. *columns*: the present ones of each table."""
    script = "".join(_changing(kind) if kind.watched else _appended(kind) for kind in kinds)
    script += "".join(_scrubbing(kind) for kind in kinds)
    return script + "".join(_guard(kind, columns[kind.table], WHY[kind.table]) for kind in kinds if kind.table in WHY)
