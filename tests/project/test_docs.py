"""The documents describe the commands, pages, folders, links, versions and functions that exist."""

import re
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from io import BytesIO
from pathlib import Path

import click
import pytest
from babel.messages.pofile import read_po

from benchmarks.coverage import cited
from docs.cli_reference import commands, help_of
from docs.screenshots import NAVIGATION, navigation
from evenhand.annotations.release.facts import coverage_cited
from evenhand.commands.main import COMMANDS, cli, summary
from evenhand.core.version import VERSION
from tests.support.pages import TITLES, addresses

pytestmark = pytest.mark.scan

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
START, PAGES, MAP = (
    (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("start", "pages", "architecture")
)
METHODS = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
IGNORED = {".git", ".venv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", "screenshots"}


def test_cli_md_matches_the_help_texts() -> None:
    # In its own process, because a command keeps the name of its help option from its first caller.
    command = [sys.executable, "-m", "docs.cli_reference", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_permissions_md_matches_the_code() -> None:
    command = [sys.executable, "-W", "ignore", "-m", "docs.permission_tables", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_command_and_option_has_a_help_text() -> None:
    without = []
    for words in commands(cli, click.Context(cli)):
        assert help_of(words)
        command: click.Command = cli
        for word in words:
            assert isinstance(command, click.Group)
            result = command.get_command(click.Context(command), word)
            assert result is not None
            command = result
        if not command.help:
            without.append(words)
    assert not without


def test_the_summary_of_each_command_is_its_help() -> None:
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None and command.get_short_help_str(limit=200) == summary(name)


def test_help_imports_no_command() -> None:
    script = (
        "import sys, cli; cli.cli(['--help'], standalone_mode=False);"
        " print([name for name in sys.modules if 'commands' in name])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n['evenhand.commands', 'evenhand.commands.main']\n") and "check-paper" in done.stdout


def test_every_command_of_the_map_is_in_the_reference() -> None:
    reference = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"## {name}\n" not in reference] == []


def console_lines() -> list[list[str]]:
    """Return every command that README and start.md show after a `$`, as words."""
    blocks = re.findall(r"```console\n(.*?)```", README + START, re.S)
    return [shlex.split(line[2:]) for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def test_the_commands_of_readme_exist() -> None:
    for words in console_lines():
        if words[0] == "make":
            assert re.search(rf"^{re.escape(words[-1])}:", (ROOT / "Makefile").read_text(), re.M), words
        if words[:2] != ["python", "cli.py"]:
            continue
        command: click.Command = cli
        rest = words[2:]
        while isinstance(command, click.Group):
            result = command.get_command(click.Context(command), rest[0])
            assert result is not None, words
            command, rest = result, rest[1:]
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in rest if word.startswith("--")} <= known, words


def folders() -> set[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return {line.split("/")[0] for line in listed.stdout.splitlines() if "/" in line} - IGNORED
    return {path.name for path in ROOT.iterdir() if path.is_dir()} - IGNORED


def test_the_table_of_folders_matches_the_tree() -> None:
    table = MAP.split("## Where things are")[1].split("\n## ")[0]
    listed = set(re.findall(r"^\| `([\w.]+)/` \|", table, re.M))
    assert listed == folders()


def test_every_page_is_described() -> None:
    table = PAGES.split("\n## ")[0]
    for page, title in TITLES.items():
        address = f"/{addresses()[page]}"
        assert re.search(rf"^\| {re.escape(title)} \| `{re.escape(address)}` \|", table, re.M), title


def test_links_and_pictures_exist() -> None:
    missing = []
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
            if not target.startswith(("http://", "https://", "mailto:")) and not (document.parent / target).exists():
                missing.append((document.name, target))
    assert not missing


def test_the_pictures_of_readme_show_the_navigation_of_today() -> None:
    assert NAVIGATION.read_text(encoding="utf-8") == navigation(), "run `make docs` and commit the pictures"


def test_the_document_of_the_desk_names_every_key() -> None:
    scripts = [
        ROOT / "annotations" / "desk" / "static" / name for name in ("keys.js", "generations_keys.js", "scheme.js")
    ]
    codes = re.findall(
        r"\b(Key[A-Z]|Enter|Space|Escape|Backspace|Arrow\w+|Home|End)\b", "".join(map(Path.read_text, scripts))
    )
    caps = {"Escape": "Esc", "Backspace": "⌫", "ArrowLeft": "←", "ArrowRight": "→", "ArrowUp": "↑", "ArrowDown": "↓"}
    keys = {caps.get(code, code.removeprefix("Key")) for code in codes}
    rows = re.findall(r"^\| (`.+?) \|", (ROOT / "docs" / "desk.md").read_text(encoding="utf-8"), re.M)
    assert {"J", "K", "F", "Enter"} <= keys | {"J", "K"}
    assert keys | {"J", "K"} <= {key for row in rows for key in re.findall(r"`([^`]+)`", row)}


def test_files_named_in_documents_exist() -> None:
    missing = []
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for name in re.findall(
            r"`((?:core|annotations|commands|pages|training|benchmarks|tests|docs|locale)/[\w./]+)`", text
        ):
            if not (ROOT / name).exists():
                missing.append((document.name, name))
    assert not missing


def quoted_messages() -> list[tuple[str, str]]:
    """Return (document, message) of each cell below the heading `message` of a table: what the program prints."""
    quoted = []
    for document in DOCUMENTS:
        column = None
        for line in document.read_text(encoding="utf-8").splitlines():
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)]
            if not line.startswith("|"):
                column = None
            elif "message" in cells:
                column = cells.index("message")
            elif column is not None and cells[column] and not cells[column].startswith("---"):
                quoted.append((document.name, cells[column]))
    return quoted


def test_messages_that_documents_quote_are_those_of_the_program() -> None:
    """Values are filled in, so a message is matched with the places of the catalogue."""
    known = [
        re.compile(re.sub(r"\\{.*?\\}", ".+", re.escape(str(message.id))))
        for file in sorted((ROOT / "locale" / "zh").glob("*.po"))
        for message in read_po(BytesIO(file.read_bytes()))
        if message.id
    ]
    quoted = quoted_messages()
    assert len(quoted) > 20
    assert [(name, text) for name, text in quoted if not any(pattern.fullmatch(text) for pattern in known)] == []


def test_anchors_are_there() -> None:
    """A link to a part of a document names one of its headings."""
    missing = []
    for document in DOCUMENTS:
        for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)]+)\)", document.read_text(encoding="utf-8")):
            file = document.parent / target if target else document
            if target.startswith("http") or file.suffix != ".md":
                continue
            headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.M)
            if anchor not in {
                re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
            }:
                missing.append((document.name, target, anchor))
    assert not missing


def test_benchmarks_named_in_documents_exist() -> None:
    """A changelog names what there was; every other document and docstring what can be run."""
    files = [file for file in DOCUMENTS if file.name != "CHANGELOG.md"]
    for folder in ("core", "annotations", "pages", "commands", "training", "benchmarks", "tests", "bin"):
        files += [file for kind in ("*.py", "*.sh") for file in sorted((ROOT / folder).rglob(kind))]
    missing = []
    for file in files:
        text = file.read_text(encoding="utf-8")
        for start, name in re.findall(r"(python -m\s|`)benchmarks\.(\w+)(?!\.md)", text):
            module = ROOT / "benchmarks" / f"{name}.py"
            runs = module.exists() and (start == "`" or "__main__" in module.read_text(encoding="utf-8"))
            if not runs and not (start == "`" and (ROOT / "benchmarks" / name).is_dir()):
                missing.append((str(file.relative_to(ROOT)), name))
    assert not missing


def test_functions_named_in_methods_exist() -> None:
    named = re.findall(r"`(core|annotations)((?:\.\w+)+)`", METHODS)
    assert len(named) > 10
    for package, rest in named:
        module, _, function = f"{package}{rest}".rpartition(".")
        try:
            import_module(f"{package}{rest}")
        except ModuleNotFoundError:
            assert hasattr(import_module(module), function), f"{package}{rest}"


def test_the_version_is_equal_everywhere() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION
    newest = re.search(r"^## \[(\d[\d.]*)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert newest is not None
    assert newest[1] == VERSION


def test_requirements_are_pinned() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        for line in (ROOT / name).read_text().splitlines():
            bare = line.split("#")[0].strip()
            assert not bare or bare.startswith("-r ") or re.fullmatch(r"[\w.-]+(\[[\w,]+\])?==[\w.]+", bare), line


def test_no_file_contains_a_local_path() -> None:
    """Paths of a home or work folder would work on one machine only."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    telltale = re.compile(r"/(?:home|root|Users)/\w+|/work/\w+")
    wrong = []
    for name in listed:
        file = ROOT / name
        if file.suffix in {".png", ".safetensors"} or not file.is_file() or name == "tests/project/test_docs.py":
            continue
        if telltale.search(file.read_text(encoding="utf-8", errors="replace")):
            wrong.append(name)
    assert not wrong


def test_figures_cited_in_papers_match_the_coverage_page() -> None:
    assert (ROOT / "core/data/coverage.tsv").read_text(encoding="utf-8") == cited(
        (ROOT / "docs/coverage.md").read_text(encoding="utf-8")
    )
    for design, (least, most, lowest) in {"items": (94.9, 96.1, 91.9), "clusters": (95.6, 96.7, 92.0)}.items():
        assert coverage_cited()[design] == {"least": least, "most": most, "lowest": lowest}


# Numbers that are not results: a level, the length of an id, the limit of a time at the desk, and the number of units
# below which an older version took t.
FIXED = {"95%", "32", "300", "15"}


def test_templates_of_papers_contain_no_figures() -> None:
    """Figures come from facts: a number typed into a sentence stays when the study behind it changes."""
    for file in sorted((ROOT / "annotations").rglob("templates/*/*.jinja")):
        text = re.sub(r"\{[%{].*?[%}]\}", "", file.read_text(encoding="utf-8"), flags=re.S)
        assert set(re.findall(r"(?<![A-Za-z\d-])\d[\d.]*%?", text)) <= FIXED, file


def test_help_texts_avoid_the_excluded_words() -> None:
    text = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    rows = text.split("| in the help of commands | never |")[1].split("\n\n")[0].splitlines()[2:]
    cells = [re.split(r"(?<!\\)\|", row)[2].replace("\\|", "|") for row in rows]
    never = [re.compile(part.strip()) for cell in cells for part in cell.split(", ")]
    document = re.sub(r"\s+", " ", (ROOT / "docs" / "cli.md").read_text(encoding="utf-8"))
    assert len(never) > 12
    assert {pattern.pattern: document[max(0, found.start() - 40) : found.end() + 20] for pattern in never
            if (found := pattern.search(document))} == {}  # fmt: skip
