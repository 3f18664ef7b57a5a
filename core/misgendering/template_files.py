"""Files of templates: the published layouts of MISGENDERED, RUFF and TANGO, and own tables.

See docs/misgendering.md#templates.

Templates and people become instances: seeded, and the same names for every pronoun set, so that cells compare.
"""

import csv
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.misgendering.slots import Instance, Template, instance_of, text_file
from evenhand.core.resources import table
from evenhand.core.text.pronouns import CASES, names_of, parse_sets, set_named, sets
from evenhand.core.types import MASK

Row = tuple[int, dict[str, str]]

SLOT = re.compile(r"\{mask(?:_token)?\}|\[MASK\]")
RUFF_SLOT = re.compile(r"\$(NOM|ACC|POSS)_PRONOUN")
RUFF_CASES = {"NOM": "nom", "ACC": "acc", "POSS": "pos_dep"}
CASE_NAMES = {case: case for case in CASES} | {
    "nominative": "nom",
    "accusative": "acc",
    "poss_dep": "pos_dep",
    "gen_att": "pos_dep",
    "pos_indep": "pos_ind",
    "poss_indep": "pos_ind",
    "gen_pred": "pos_ind",
    "reflexive": "ref",
}
# The columns that distinguish the layouts, and those that each needs.
LAYOUTS = {
    "tango": ("template_idx", "ante", "pronoun_family", "template"),
    "ruff": ("sentence", "pronoun", "uid"),
    "misgendered": ("form", "template"),
    "own": ("case", "text"),
}


@dataclass(frozen=True, slots=True)
class Person:
    """A person and the pronoun sets of this person; without sets, each set of the data set is tried."""

    name: str
    pronouns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text of TANGO to continue: its id, its person and pronoun set, and its row's kind of antecedent."""

    id: str
    text: str
    name: str
    kind: str
    pronouns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """The content of a file or folder: templates, ready instances (RUFF, own rows), or prompts."""

    dataset: str
    templates: tuple[Template, ...] = ()
    people: tuple[Person, ...] = ()
    instances: tuple[Instance, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    files: tuple[Path, ...] = field(default=(), compare=False)


def built_in() -> Source:
    """Return the project's own templates and names."""
    rows = tuple(enumerate(table("misgendering_templates"), 1))
    people = tuple(Person(row["name"]) for row in table("misgendering_names"))
    return Source("own", _own_templates("misgendering_templates.tsv", rows), people)


def read_source(place: Path | str) -> Source:
    """Read the user's copy of a published set, or an own table; the columns tell which.

    A folder is MISGENDERED's (explicit_template_*.csv and names/). Raises BadFile, with file and line, where columns
    lack, a template has no slot or several, or a case or pronoun set is unknown.
    """
    path = Path(place)
    if path.is_dir():
        return _misgendered_folder(path)
    header, rows = read_rows(path)
    layout = next((name for name, columns in LAYOUTS.items() if set(columns) <= set(header)), None)
    if layout == "misgendered":
        return _misgendered([(path, rows)], path.parent / "names")
    if layout == "ruff":
        return Source("ruff", instances=tuple(_ruff(path.name, rows)), files=(path,))
    if layout == "tango":
        return Source("tango", prompts=tuple(_tango(path.name, rows)), files=(path,))
    if layout == "own":
        return Source("own", _own_templates(path.name, rows), built_in().people, files=(path,))
    likely = max(LAYOUTS, key=lambda name: len(set(LAYOUTS[name]) & set(header)) / len(LAYOUTS[name]))
    lacking = [column for column in LAYOUTS[likely] if column not in header]
    message = N_(
        "{file} lacks the columns {lacking}; a table of templates has {columns}, or one of the published layouts."
    )
    raise BadFile(message, file=path.name, lacking=", ".join(lacking), columns=", ".join(LAYOUTS["own"]))


def read_people(place: Path | str) -> tuple[Person, ...]:
    """Read own names: a text file with a name per line, or a table with the column name and optionally pronouns."""
    path = Path(place)
    if path.suffix.lower() == ".txt":
        return tuple(Person(name) for name in _names(path))
    header, rows = read_rows(path)
    if "name" not in header:
        raise BadFile(N_("{file} lacks the column name (a column pronouns is optional)."), file=path.name)
    return tuple(Person(row["name"], _Line(path.name, line).sets(row.get("pronouns") or "")) for line, row in rows)


def read_rows(path: Path) -> tuple[list[str], list[Row]]:
    """Read the heading and the rows, with their line numbers, of a CSV or TSV. Raises BadFile for other files."""
    with text_file(path):
        text = path.read_text(encoding="utf-8-sig")
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip() and not line.startswith("#")]
    if not lines:
        raise BadFile(N_("{file} is empty."), file=path.name)
    tabs = "\t" in lines[0][1]
    body = "\n".join(line for _, line in lines)
    lines_of = body.splitlines()
    reader = csv.reader(lines_of, delimiter="\t", quoting=csv.QUOTE_NONE) if tabs else csv.reader(lines_of)
    try:
        found = [(reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        raise BadFile(N_("{file} cannot be read as CSV: {problem}"), file=path.name, problem=error) from error
    header: list[str] = []
    rows: list[Row] = []
    for number, cells in found:
        line = lines[min(number, len(lines)) - 1][0]
        if not header:
            header = [cell.strip() for cell in cells]
        elif len(cells) != len(header):
            message = N_("{file}, line {line}: {found} columns where the header has {expected}")
            raise BadFile(message, file=path.name, line=line, found=len(cells), expected=len(header))
        else:
            rows.append((line, dict(zip(header, (cell.strip() for cell in cells), strict=True))))
    if not rows:
        raise BadFile(N_("{file} has a header but no rows."), file=path.name)
    return header, rows


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a file, for error messages."""

    file: str
    line: int

    def sets(self, text: str) -> tuple[str, ...]:
        try:
            return parse_sets(text)
        except BadFile as error:
            message = N_("{file}, line {line}: {why}")
            raise BadFile(message, file=self.file, line=self.line, why=str(error)) from None

    def case(self, text: str) -> str:
        if text.lower() not in CASE_NAMES:
            message = N_("{file}, line {line}: {case} is not a pronoun case; use one of {known}.")
            raise BadFile(message, file=self.file, line=self.line, case=text or "''", known=", ".join(CASES))
        return CASE_NAMES[text.lower()]

    def slotted(self, text: str) -> str:
        """Return the text with its one slot written [MASK]."""
        count = len(SLOT.findall(text))
        if count != 1:
            message = N_("{file}, line {line}: a template has one slot, written [MASK]; this one has {count}.")
            raise BadFile(message, file=self.file, line=self.line, count=count)
        return SLOT.sub(MASK, text)


def _own_templates(file: str, rows: Sequence[Row]) -> tuple[Template, ...]:
    templates = []
    for line, row in rows:
        at = _Line(file, line)
        name = row.get("id") or f"line-{line}"
        templates.append(Template(name, at.case(row["case"]), at.slotted(row["text"]), "own", line))
    _refuse_twice(file, templates)
    return tuple(templates)


def _refuse_twice(file: str, templates: Sequence[Template]) -> None:
    seen: dict[str, int] = {}
    for template in templates:
        if template.id in seen:
            message = N_("{file}, line {line}: the id {id} is already used in line {first}.")
            raise BadFile(message, file=file, line=template.line, id=template.id, first=seen[template.id])
        seen[template.id] = template.line


def _misgendered_folder(folder: Path) -> Source:
    files = sorted(folder.rglob("explicit_template*.csv"))
    if not files:
        message = N_("{folder} has no explicit_template_*.csv; give the MISGENDERED folder, or a file of templates.")
        raise BadFile(message, folder=folder.name)
    names = next(
        (path for path in (folder / "names", *(file.parent / "names" for file in files)) if path.is_dir()), None
    )
    read = []
    for file in files:
        header, rows = read_rows(file)
        lacking = [column for column in LAYOUTS["misgendered"] if column not in header]
        if lacking:
            message = N_("{file} lacks the columns {lacking}.")
            raise BadFile(message, file=file.name, lacking=", ".join(lacking))
        read.append((file, rows))
    return _misgendered(read, names or folder / "names")


def _misgendered(read: Sequence[tuple[Path, Sequence[Row]]], names: Path) -> Source:
    result: dict[tuple[str, str], Template] = {}
    for file, rows in read:
        for line, row in rows:
            at = _Line(file.name, line)
            case, text = at.case(row["form"]), at.slotted(row["template"])
            id = f"{case}-{row.get('template_id') or line}"
            if any(template.id == id and template.text != text for template in result.values()):
                id = f"{id}-{file.stem}"
            result.setdefault((case, text), Template(id, case, text, "misgendered", line))
    lists = sorted(names.glob("*.txt")) if names.is_dir() else []
    people = tuple(Person(name) for name in dict.fromkeys(name for path in lists for name in _names(path)))
    files = tuple(file for file, _ in read)
    return Source("misgendered", tuple(result.values()), people or built_in().people, files=(*files, *lists))


def _names(path: Path) -> list[str]:
    with text_file(path):
        result = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    if not any(result):
        raise BadFile(N_("{file} is empty."), file=path.name)
    return [name for name in result if name]


def _ruff(file: str, rows: Sequence[Row]) -> Iterator[Instance]:
    """Yield finished rows: the first sentence has the person's pronoun, the slot asks for another form of it."""
    options = tuple(sets("ruff"))
    for line, row in rows:
        slots = list(RUFF_SLOT.finditer(row["sentence"]))
        if len(slots) != 1:
            message = N_(
                "{file}, line {line}: a sentence of RUFF has one slot such as $NOM_PRONOUN; this one has {count}."
            )
            raise BadFile(message, file=file, line=line, count=len(slots))
        case = RUFF_CASES[slots[0].group(1)]
        before, after = row["sentence"][: slots[0].start()], row["sentence"][slots[0].end() :]
        forms = tuple(set_named(option, "ruff").form(case) for option in options)
        text = row["sentence"]
        for column in ("occupation", "participant"):
            if row.get(column):
                text = re.sub(rf"\b(?:an?\s+)?{re.escape(row[column])}\b", f"{{{column}}}", text, flags=re.IGNORECASE)
        template = re.sub(r"\w+", lambda found: "{pronoun}" if names_of(found.group(), "ruff") else found.group(), text)
        own = (_ruff_set(file, line, row),)
        yield Instance(
            row["uid"], "ruff", template, row.get("occupation", ""), own, case, before, after, options, forms
        )


def _ruff_set(file: str, line: int, row: dict[str, str]) -> str:
    """Return he, she, they or xe, from the first column with the name of a set or a form of one set only."""
    for column in ("pronoun_type", "pronoun", "word"):
        value = row.get(column, "").lower().partition("/")[0]
        names = names_of(value, "ruff")
        if len(names) == 1:
            return names[0]
    message = N_("{file}, line {line}: {pronoun} is not a RUFF pronoun (he, she, they, xe).")
    raise BadFile(message, file=file, line=line, pronoun=row["pronoun"] or "''")


def _tango(file: str, rows: Sequence[Row]) -> Iterator[Prompt]:
    """Yield prompts with only the first letter a capital, as the published code gives them to the model."""
    seen: dict[str, int] = {}
    for line, row in rows:
        own = _Line(file, line).sets(row["pronoun_family"])
        base = f"{row['template_idx']}.{row['ante']}.{row['pronoun_family']}"
        seen[base] = seen.get(base, 0) + 1
        id = base if seen[base] == 1 else f"{base}.{seen[base]}"
        yield Prompt(id, row["template"].capitalize(), row["ante"], row.get("ante_type", ""), own)


PASSES = 15  # times that each template is filled, as MISGENDERED does: 50 x 15 = 750 instances per set


def instances(
    source: Source,
    *,
    passes: int = PASSES,
    seed: int = 0,
    also: Sequence[str] = (),
    only: Sequence[str] = (),
    people: Sequence[Person] | None = None,
    limit: int | None = None,
) -> tuple[Instance, ...]:
    """Return every instance of a source, by template, then name, then pronoun set.

    Each template is filled *passes* times, by people drawn without repeating one before all were drawn (the published
    code draws with replacement). A person whose pronouns are given appears with these, anybody else with each set of
    the data set and of *also*. *only*: keep instances of these sets. *limit*: a seeded sample of that many instances,
    in the order of the whole. Raises Refused where nothing is left, BadFile for a template that cannot be filled.
    """
    drawn = people if people is not None else source.people
    result = [*source.instances]
    for template in source.templates:
        result += _of_template(template, drawn, passes, seed, tuple(also))
    if only:
        result = [instance for instance in result if any(name in only for name in instance.pronouns)]
    if not result:
        raise Refused(N_("No instances remain: there is no template, no name, or no pronoun set is chosen."))
    if limit is not None and limit < len(result):
        kept = _random(seed, "limit").sample(range(len(result)), limit)
        result = [result[i] for i in sorted(kept)]
    return tuple(result)


def _of_template(
    template: Template, people: Sequence[Person], passes: int, seed: int, also: tuple[str, ...]
) -> Iterator[Instance]:
    left: list[Person] = []
    chance = _random(seed, template.id)
    for number in range(1, passes + 1 if people else 0):
        left = left or chance.sample(people, len(people))  # one shuffle after the other
        person = left.pop()
        own = [person.pronouns] if person.pronouns else [(name,) for name in (*sets(template.dataset), *also)]
        for pronouns in dict.fromkeys(own):
            id = f"{template.id}.{number}.{';'.join(pronouns)}"
            yield instance_of(template, person.name, pronouns, id=id, also=also)


def _random(seed: int, name: str) -> random.Random:
    return random.Random(f"{seed}|{name}")  # noqa: S311 (a draw that can be repeated, nothing secret)
