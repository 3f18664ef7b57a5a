"""The shape of the code: imports point one way, torch stays where it is, files and functions stay small."""

import ast
import re
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.scan

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("evenhand", "core", "annotations", "web", "commands", "pages", "training", "benchmarks", "docs", "tests")
SOURCES = sorted([*ROOT.glob("*.py"), *(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))])
# A module is a thought: as long as that takes, within these limits.
LINES, FUNCTION_LINES = 500, 50
TEST_LINES = 550  # tables of cases are long and still read from top to bottom
MODULES = 25  # in one package: more is a drawer that nothing can be found in

# The words of the house: one a capability, the same in every layer that has it. Each package may import the packages
# listed before it in its layer, so that no two ever import each other. A module of a package with a place of its own
# (`nli.types`) is material of a measure that the models planted for it are made from.
ORDER = {
    "core": """errors types version resources processes language typed_json statistics text files cluster guidelines
        servers nli.types nli.occupations association.sets association.corpus
        misgendering.slots misgendering.template_files models runs
        judges sampling human_vs_rule mining forecast sentence_bias swap audit concordance generation scoring
        misgendering model_bias nli published association charts describe worker report demo_page ruler tune
        before_after other_measures harness""",
    "annotations": """types permissions text_policy database items jobs queue guideline plan labels
        projects adjudication sampling forecast agreement human_vs_rule judges pilot audit browse desk progress quality
        describe.project_description quantities papers files before_after demo describe mining record accounts study
        release hub imports log""",
}
GROUND = {  # modules at the root of a layer, which every package of it may import
    "core": {"errors", "types", "version", "resources", "processes", "language", "cluster", "typed_json"},
    "annotations": {"types", "permissions", "text_policy"},
    "pages": {"main", "catalogue"},
}
# Pages and commands that belong to no capability of core or annotations.
OWN_WORDS = {"home", "about", "review", "people", "maintenance", "server"}
WORDS = OWN_WORDS.union(ORDER["core"].split(), ORDER["annotations"].split())
DOCUMENTS = {
    "README",
    "accessibility",
    "architecture",
    "benchmarks",
    "performance",
    "cli",
    "contributing",
    "coverage",
    "notebook",
    "pages",
    "start",
    "deploying",
    "nulls",
    "methods",
    "measures_elsewhere",
    "methods_map",
}  # about the whole

# layer -> what it may import of this project
MAY_IMPORT = {
    "core": {"core"},
    "annotations": {"core", "annotations"},
    "web": {"core", "annotations", "web"},
    "commands": {"core", "annotations", "web", "commands"},
    "pages": {"core", "annotations", "web", "commands", "pages"},
    "training": {"core", "training"},
}
LAYERS = {"core", "annotations", "web", "commands", "pages", "training", "tests", "benchmarks", "cli", "app"}
HEAVY = {"torch", "transformers", "safetensors", "tokenizers"}


def name(file: Path) -> str:
    return str(file.relative_to(ROOT))


@dataclass
class Shape:
    """The facts of a file that the tests use, from one pass over its tree."""

    lines: int
    imported: set[str] = field(default_factory=set)  # every module, at the top or inside a function
    modules: set[str] = field(default_factory=set)  # the same, and with each name that is taken from one
    functions: list[tuple[str, int]] = field(default_factory=list)  # name, lines
    defined: list[str] = field(default_factory=list)  # functions and classes
    texts: list[str] = field(default_factory=list)


def in_layer(module: str) -> str:
    """Return the module's name below the package: core.errors for evenhand.core.errors."""
    return module.removeprefix("evenhand.")


@cache
def shape(file: Path) -> Shape:
    source = file.read_text(encoding="utf-8")
    result = Shape(len(source.splitlines()))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules = {in_layer(alias.name) for alias in node.names}
            result.imported |= modules
            result.modules |= modules
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            module = in_layer(node.module)
            result.imported.add(module)
            result.modules |= {module, *(in_layer(f"{node.module}.{alias.name}") for alias in node.names)}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            result.functions.append((node.name, (node.end_lineno or 0) - node.lineno + 1))
            result.defined.append(node.name)
        elif isinstance(node, ast.ClassDef):
            result.defined.append(node.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            result.texts.append(node.value)
    return result


def imported(file: Path) -> set[str]:
    return shape(file).imported


def roots(file: Path) -> set[str]:
    return {module.split(".")[0] for module in imported(file)}


def test_the_sources_are_listed() -> None:
    assert {"app.py", "cli.py", "core/types.py", "pages/main.py"} <= {name(file) for file in SOURCES}


def test_tests_import_no_tests() -> None:
    """Code that several tests need is in tests/support or a conftest; the packages of tests, named like the packages
    they test, contain nothing to import."""
    packages = {".".join(file.parent.relative_to(ROOT).parts) for file in SOURCES if file.name == "__init__.py"}
    wrong = {
        name(file): sorted(bad)
        for file in SOURCES
        if (bad := {module for module in imported(file) if module.startswith("tests.") and ".test_" in module})
        or (
            bad := {
                module
                for module in imported(file) & packages
                if module.startswith("tests.") and module != "tests.support"
            }
        )
    }
    assert not wrong


@pytest.mark.parametrize("layer", sorted(MAY_IMPORT))
def test_imports_point_one_way(layer: str) -> None:
    wrong = {
        name(file): sorted(bad)
        for file in SOURCES
        if name(file).startswith(f"{layer}/") and (bad := (roots(file) & LAYERS) - MAY_IMPORT[layer])
    }
    assert not wrong


def test_streamlit_is_imported_by_pages_and_server_only() -> None:
    allowed = ("pages/", "tests/", "app.py", "web/streamlit_patches.py", "web/lifespan.py")
    wrong = [name(f) for f in SOURCES if "streamlit" in roots(f) and not name(f).startswith(allowed)]
    assert not wrong


def test_model_libraries_are_imported_by_core_models_and_training_only() -> None:
    # The worker is the process that models run in; it sets the number of threads.
    allowed = ("core/models/", "core/worker/process.py", "training/", "tests/", "benchmarks/")
    wrong = [name(f) for f in SOURCES if roots(f) & HEAVY and not name(f).startswith(allowed)]
    assert not wrong


def test_the_app_and_every_page_import_without_torch() -> None:
    """Imports every page's module chain in a fresh interpreter; the page scripts themselves run in test_pages."""
    modules = sorted(
        {m for f in SOURCES if name(f).startswith("pages/") for m in imported(f) if m.split(".")[0] in LAYERS}
        | {"annotations.database.store"}
    )
    assert loaded([f"evenhand.{module}" for module in modules], HEAVY) == "[]"


def test_commands_of_people_and_files_load_no_statistics() -> None:
    """A second of every start: these are imported where they compute."""
    names = (
        "files",
        "projects",
        "people",
        "guideline",
        "release",
        "progress",
        "describe",
        "maintenance.command",
    )
    heavy = {"scipy", "statsmodels", "pandas", "rjieba"}
    share = "from evenhand.core.statistics import Note, wilson; wilson(1, 2, nothing=Note('none'))"  # on every page
    modules = [f"evenhand.commands.{module}" for module in (*names, "jobs", "plan", "scoring")]
    assert loaded(modules, heavy, share) == "[]"


def test_the_rail_of_every_page_loads_neither_tables_nor_dictionary() -> None:
    """A third of the memory of the app: these are imported by the pages and sentences that need them."""
    heavy = {"pandas", "pyarrow", "altair", "scipy", "rjieba", "torch"}
    assert loaded(["pages.ui.rail"], heavy) == "[]"


def loaded(modules: list[str], heavy: set[str], after: str = "") -> str:
    """Return those of *heavy* that are loaded once a new interpreter has imported *modules* and run *after*."""
    code = (
        f"import sys, importlib\nfor m in {modules!r}: importlib.import_module(m)\n{after}\n"
        f"print(sorted({heavy!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def test_pages_are_not_named_like_modules() -> None:
    """Streamlit puts pages/ first on sys.path: pages/random.py would be `import random`."""
    taken = set(sys.stdlib_module_names) | LAYERS | {"evenhand", "streamlit", "pandas", "altair", "docs", "locale"}
    # `try` is a keyword, so no module can be imported by that name.
    assert not [f.name for f in (ROOT / "pages").iterdir() if f.stem in taken]


def test_files_stay_small() -> None:
    lengths = {name(f): shape(f).lines for f in SOURCES}
    limits = {file: TEST_LINES if file.startswith("tests/") else LINES for file in lengths}
    assert not {file: length for file, length in lengths.items() if length > limits[file]}


def test_functions_stay_small() -> None:
    too_long = {
        f"{name(file)}:{function}": length
        for file in SOURCES
        for function, length in shape(file).functions
        if length > FUNCTION_LINES
    }
    assert not too_long


SQL = re.compile(r"\b(SELECT\s+.+\s+FROM|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\b", re.S)


def sql_in(file: Path) -> list[str]:
    return [text for text in shape(file).texts if SQL.search(text)]


def test_sql_is_in_annotations_only() -> None:
    checked = [f for f in SOURCES if name(f).startswith(("core/", "commands/", "pages/", "web/", "app.py", "cli.py"))]
    assert not {name(f): sql_in(f) for f in checked if sql_in(f) and name(f) != "core/scoring/cache.py"}


def test_the_search_for_sql_works() -> None:
    assert sql_in(ROOT / "annotations" / "database" / "store.py")


WORN_OUT = re.compile(
    r"(^|_)(utils?|helpers?|manager)(_|$)|^(get|handle|do)_"
    r"|^_?(told|said|kept|made|given|whole|found|looked|brought|asked|wanted|shown|filled|aside)$"
)


def test_names_are_plain() -> None:
    names = {
        f"{name(file)}:{defined}"
        for file in SOURCES
        if not name(file).startswith("tests/")
        for defined in shape(file).defined
        # Methods that click and httpx call have the names that these give them.
        if WORN_OUT.search(defined) and defined not in {"get_command", "handle_async_request"}
    }
    files = {name(f) for f in SOURCES if WORN_OUT.search(f.stem)}
    assert not names | files


def packages(layer: str) -> list[Path]:
    """Return the folders of a layer that contain Python, with all below them."""
    return sorted({file.parent for file in (ROOT / layer).rglob("*.py")})


def word_of(file: Path) -> str:
    """Return the folder or module of its layer that a file belongs to."""
    return file.relative_to(ROOT).parts[1].removesuffix(".py")


@pytest.mark.parametrize("layer", ["core", "annotations", "pages", "commands"])
def test_folders_are_named_after_a_capability(layer: str) -> None:
    words = {word_of(file) for file in (ROOT / layer).rglob("*.py")}
    assert words <= WORDS | {"__init__", "shared", "tables", "ui", "main", "catalogue"}


def test_catalogues_and_documents_are_named_after_a_capability() -> None:
    assert {file.stem for file in (ROOT / "locale" / "zh").glob("*.po")} <= WORDS | {"ui"}
    assert {file.stem for file in (ROOT / "docs").glob("*.md")} <= WORDS | DOCUMENTS


@pytest.mark.parametrize("layer", sorted(GROUND))
def test_only_ground_modules_are_at_the_root_of_a_layer(layer: str) -> None:
    assert {file.stem for file in (ROOT / layer).glob("*.py")} <= GROUND[layer] | {"__init__"}


def test_the_tests_mirror_the_tree() -> None:
    """A folder of tests/core or tests/annotations is a package; one of tests/commands or tests/pages contains none."""
    folders = {str(folder.relative_to(ROOT / "tests")) for folder in packages("tests")}
    mirrored = {folder for folder in folders if folder.startswith(("core", "annotations", "commands", "pages", "web"))}
    assert [folder for folder in sorted(mirrored) if not (ROOT / folder).is_dir()] == []
    assert folders - mirrored <= {".", "browser", "faults", "models_of_the_store", "project", "support"}


def test_packages_are_small() -> None:
    folders = [folder for layer in ("core", "annotations", "web", "pages", "commands") for folder in packages(layer)]
    sizes = {name(folder): len(list(folder.glob("*.py"))) - 1 for folder in folders}
    assert not {folder: size for folder, size in sizes.items() if size > MODULES}


@pytest.mark.parametrize("layer", ["core", "annotations"])
def test_packages_import_in_one_order(layer: str) -> None:
    places = {word: number for number, word in enumerate(ORDER[layer].split())}

    def place(module: list[str]) -> int:
        return places.get(".".join(module[1:3]), places.get(module[1], -1))

    wrong = {
        f"{name(file)} imports {module}"
        for file in (ROOT / layer).rglob("*.py")
        for module in shape(file).modules
        if module.startswith(f"{layer}.")
        and place(module.split(".")) > place([*file.relative_to(ROOT).with_suffix("").parts, ""])
    }
    assert not wrong


# The package of annotations that writes each table. A column may have an owner of its own: the queue's columns of a
# member are in `member`, and the numbers of returned items in `project`.
WRITTEN_BY = {
    "database": "database event log log_salt scrubbed",
    "items": "item batch cell census stock tally imported_gold project.returns member.looked",
    "jobs": "job",
    "queue": "assignment progress retest member.turn member.recent member.seen",
    "guideline": "guideline scheme guideline_draft tag_draft member.told",
    "labels": "label skip retest_label left_text",
    "projects": "project member annotator label_consent grouping annotator_group",
    "adjudication": "settlement comment",
    "pilot": "pilot",
    "quality": "known",
    "files": "label_file label_of_file",
    "release": "release release_file release_item",
    "sampling": "sample inclusion",
    "judges": "judge judge_label judge_failure judge_margin judge_order",
    "study": "study study_consent study_question study_person study_identity study_use study_answer",
    "accounts": "account account_role account_event account_identity sign_in access_link",
}
OWNER = {table: package for package, tables in WRITTEN_BY.items() for table in tables.split()}
# Functions of annotations/database/store.py that write, with what they do and the place of the table.
WRITING = {"insert": ("INSERT INTO", 1), "into": ("INSERT INTO", 0), "update_rows": ("UPDATE", 1)}
WRITING |= {"delete_rows": ("DELETE FROM", 1)}
TEMPORARY = {"planned": "sampling"}  # tables of one connection
WRITES = re.compile(
    r"\b(?:INSERT(?:\s+OR\s+\w+)?\s+INTO|REPLACE\s+INTO|UPDATE(?:\s+OR\s+\w+)?|DELETE\s+FROM)\s+([\w{}]+)"
)
SET = re.compile(r"\bUPDATE\s+\w+\s+SET\s+(.*?)(?:\s+WHERE\b|\s+FROM\b|$)", re.S)
# Conditions that a view stands for (annotations/database/schema/m004_views.sql). A batch on its way is the import's own
# matter: annotations/items may query `published = 0`.
VIEWED = re.compile(
    r"\bpublished\s*\)?\s*(>|<>|!=)\s*0|\bsuperseded\s*=\s*0|(?<!SET )\bactive\s*=\s*1|\bclosed\s+IS\s+NULL"
)
SCHEMA = ("annotations/database/schema/", "annotations/database/migrations.py")


def statements(file: Path) -> list[str]:
    """Return every string of a file except docstrings, f-strings whole, with {} for each replacement field."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    results = []
    for node in ast.walk(tree):  # a node comes before its parts
        if isinstance(node, ast.JoinedStr):
            passed |= {id(part) for part in ast.walk(node)} - {id(node)}
            parts = (str(value.value) if isinstance(value, ast.Constant) else "{}" for value in node.values)
            results.append("".join(parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
            results.append(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WRITING:
            act, place = WRITING[node.func.id]
            table, *values = node.args[place : place + 2]
            keys = values[0].keys if act == "UPDATE" and isinstance(values[0], ast.Dict) else []
            columns = ", ".join(f"{key.value if isinstance(key, ast.Constant) else '{}'} = ?" for key in keys)
            results.append(f"{act} {table.value if isinstance(table, ast.Constant) else '{}'} SET {columns}")
    return results


def written(text: str) -> set[str]:
    """Return the tables that a statement writes, or `table.column` if it sets only columns with own owners."""
    results = set()
    for match in WRITES.finditer(text):
        table = match[1]
        if table == "SET":  # ON CONFLICT DO UPDATE SET
            continue
        columns = set_columns(text[match.start() :]) if match[0].startswith("UPDATE") else set()
        own = {f"{table}.{column}" for column in columns}
        results |= own if own and own <= OWNER.keys() else {table}
    return results


def set_columns(text: str) -> set[str]:
    """Return the columns that an UPDATE sets."""
    match = SET.match(text)
    bare = re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", match[1])) if match else ""
    return set(re.findall(r"(?:^|,)\s*([\w{}]+)\s*=", bare))


def foreign_writes(root: Path) -> list[str]:
    """Return statements of annotations that write a table of another package, or whose table cannot be determined."""
    wrong, owner = [], OWNER | TEMPORARY
    for file in sorted((root / "annotations").rglob("*.py")):
        path = str(file.relative_to(root))
        for text in [] if path.startswith((*SCHEMA, "annotations/database/store.py")) else statements(file):
            wrong += [f"{path}: {table}" for table in written(text) if owner.get(table) != path.split("/")[1]]
    return wrong


def test_each_table_is_written_by_one_package() -> None:
    assert foreign_writes(ROOT) == []


def test_the_search_for_writes_works(tmp_path: Path) -> None:
    (tmp_path / "annotations" / "browse").mkdir(parents=True)
    (tmp_path / "annotations" / "browse" / "search.py").write_text(
        '"""UPDATE item SET text: a docstring is none."""\n'
        'ONE = ("INSERT OR IGNORE INTO"\n    " label (item) VALUES (1)")\n'
        'TWO = f"""\nUPDATE item\nSET known = {ONE}"""\n'
        'THREE = f"DELETE FROM {TWO}"\n'
        'FOUR = "INSERT INTO progress VALUES (1) ON CONFLICT DO UPDATE SET rank = 1"\n'
        'FIVE = "UPDATE member SET turn = iif(a = 1, b, c), seen = 2 WHERE project = 1"\n'
        'SIX = "SELECT * FROM item"\n'
        'insert(db, "skip", {})\n'
        'update_rows(db, "member", {"turn": 1}, project=2)\n'
        'update_rows(db, "member", {"told": 1, "active": 0}, project=2)\n'
        'delete_rows(db, "stock", batch=1)\n',
        encoding="utf-8",
    )
    tables = {line.split(": ")[1] for line in foreign_writes(tmp_path)}
    assert tables == {"label", "item", "{}", "progress", "member.turn", "member.seen", "skip", "member", "stock"}


def test_every_table_has_an_owner() -> None:
    schema = "".join(
        f.read_text(encoding="utf-8") for f in sorted((ROOT / "annotations/database/schema").glob("*.sql"))
    )
    tables = set(re.findall(r"CREATE TABLE (\w+) \(", schema))
    assert tables and tables == {table for table in OWNER if "." not in table}


def test_statements_use_the_views_of_valid_rows() -> None:
    """Published items, valid labels, active members and open pilots are queried by the name of their view."""
    wrong = [
        f"{name(file)}: {text.strip()[:80]}"
        for file in sorted((ROOT / "annotations").rglob("*.py"))
        if not name(file).startswith(SCHEMA)
        for text in statements(file)
        if VIEWED.search(text)
    ]
    assert not wrong


def test_a_page_imports_the_shared_ui_and_its_own_folder_only() -> None:
    """Code that two pages need is in pages/ui, or, where it computes, in core or annotations."""
    wrong = set()
    for file in (ROOT / "pages").rglob("*.py"):
        own = {word_of(file), "ui", "catalogue"}
        for module in shape(file).modules:
            parts = module.split(".")
            if parts[0] == "pages" and len(parts) > 1 and parts[1] not in own:
                wrong.add(f"{name(file)} imports {module}")
    assert not wrong


def test_pages_write_html_through_the_shared_ui_only() -> None:
    """`show_html` of pages/ui takes `Markup` alone, in which every text is escaped; st.html takes anything."""
    pages = [file for file in (ROOT / "pages").rglob("*.py") if file.parent.name != "ui" and file.stem != "main"]
    tags = re.compile(r"st\.html\(|<style>|<table")
    assert not [name(file) for file in pages if tags.search(file.read_text(encoding="utf-8"))]
