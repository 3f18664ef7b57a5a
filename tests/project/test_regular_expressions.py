"""No regular expression that reads foreign text may need more than linear time: a text of digits can stop a server."""

import ast
import importlib
import inspect
import re
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evenhand.core.resources import ROOT
from tests.support.regex_ambiguity import problem

pytestmark = pytest.mark.scan

LAYERS = ("core", "annotations", "pages", "commands")
CALLS = {"search": "search", "sub": "search", "subn": "search", "split": "search", "findall": "search",
         "finditer": "search", "match": "match", "fullmatch": "fullmatch"}  # fmt: skip
PLACE = "x"  # in place of a value that is known only when the expression is used: an escaped word
# (file, beginning of the pattern) -> why the texts that it reads are short, or why it is linear all the same
ALLOWED = {
    ("core/text/repetition.py", r"(?:[\w+\-.]{2,}://)?"): (
        "reads one word of at most 2,048 characters without spaces, so its last repetition cannot fail"
    ),
    ("core/mining/cleaning.py", "[^>]*>"): "matched at one place; an end that never comes is looked for once",
    ("core/mining/cleaning.py", "[^<>]*>"): "matched at one place, up to the next tag",
    ("web/gate.py", "<script>"): "reads the page of Streamlit, which is a file of a package",
    ("commands/maintenance/doctor.py", "noto.*cjk"): "reads names of the system's fonts",
}


class Found(NamedTuple):
    """A pattern, and how it is used."""

    file: str
    line: int
    pattern: str
    flags: int
    mode: str


def evaluated(node: ast.expr, names: dict[str, Any]) -> Any:
    """Return the value of an expression; a part of an f-string that needs local names counts as one letter."""
    try:
        return eval(compile(ast.Expression(node), "pattern", "eval"), names)
    except Exception:
        if isinstance(node, ast.JoinedStr):
            parts = [value if isinstance(value, ast.Constant) else value.value for value in node.values]
            texts = [evaluated(part, names) for part in parts]
            return "".join(text if isinstance(text, str) else PLACE for text in texts)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return "".join(text if isinstance(text, str) else PLACE for text in
                           (evaluated(node.left, names), evaluated(node.right, names)))  # fmt: skip
        return None


def name_of(target: ast.AST) -> str:
    return getattr(target, "id", getattr(target, "attr", ""))


def modes_of_names(tree: ast.Module) -> dict[str, set[str]]:
    """Return the methods that are called on each name of a module."""
    modes: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in CALLS and name_of(node.value):
            modes.setdefault(name_of(node.value), set()).add(CALLS[node.attr])
    return modes


def assigned(tree: ast.Module) -> dict[ast.AST, str]:
    """Return calls that are the value of a name, alone or in a tuple."""
    names: dict[ast.AST, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            pairs = zip(target.elts, value.elts, strict=False) if (
                isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            ) else [(target, value)]  # fmt: skip
            names |= {item: name_of(name) for name, item in pairs}
    return names


@cache
def patterns() -> list[Found]:
    """Return every pattern of the project that can be read from its sources."""
    return [
        pattern for layer in LAYERS for file in sorted((ROOT / layer).rglob("*.py")) for pattern in patterns_of(file)
    ]


def patterns_of(file: Path) -> Iterator[Found]:
    text = file.read_text(encoding="utf-8")
    if not re.search(r"^import re\b", text, re.M):
        return
    tree, path = ast.parse(text), file.relative_to(ROOT)
    module = importlib.import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
    modes, names = modes_of_names(tree), assigned(tree)
    for node in ast.walk(tree):
        call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and name_of(node.func.value) == "re"
        if not call or not node.args or node.func.attr not in {"compile", *CALLS}:
            continue
        pattern = evaluated(node.args[0], vars(module))
        given = [*node.args[1:], *(keyword.value for keyword in node.keywords if keyword.arg == "flags")]
        flags = sum({int(flag) for value in given if isinstance(flag := evaluated(value, vars(module)), re.RegexFlag)})
        used = {CALLS[node.func.attr]} if node.func.attr in CALLS else modes.get(names.get(node, ""), set())
        if isinstance(pattern, str | bytes):
            for mode in used or {"search", "fullmatch"}:
                yield Found(str(path), node.lineno, text_of(pattern), flags, mode)
    for made in patterns_that_are_made(module):
        yield Found(str(path), 0, text_of(made.pattern), made.flags & ~re.UNICODE, "search")


def patterns_that_are_made(module: Any) -> Iterator[re.Pattern[Any]]:
    """Yield what the functions without arguments of a module return, where that is a pattern."""
    for function in vars(module).values():
        if not callable(function) or getattr(function, "__module__", "") != module.__name__:
            continue
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            continue
        if not signature.parameters and "Pattern" in str(signature.return_annotation):
            yield function()


def text_of(pattern: str | bytes) -> str:
    return pattern if isinstance(pattern, str) else pattern.decode("latin-1")


def test_patterns_are_listed() -> None:
    assert len(patterns()) > 150


@pytest.mark.parametrize(
    ("pattern", "mode", "linear"),
    [
        (r"(a+)+$", "match", False),
        (r"(?:a?b?)*c", "match", False),
        (r"\d+\.?\d*x", "match", False),
        (r"\d+(?:\.\d*)?x", "match", True),
        (r"\s+$", "search", False),
        (r"\s+$", "match", True),
        (r"(?<!\s)\s+$", "search", True),
        (r"^\s+$", "search", True),
        (r"a(?=b*c)b", "search", True),
        (r"b(?=b*c)", "search", False),
        (r"\w+(?:-\w+)*", "search", True),
        (r"a++a*+b", "match", True),
        (r"(?i)(?:ab|AB)*c", "match", False),
        (r"---\s*\n(.*?)\n---", "match", False),
    ],
)
def test_the_checker_detects_nonlinear_patterns(pattern: str, mode: str, linear: bool) -> None:
    assert (problem(pattern, re.DOTALL, mode) is None) == linear


def test_each_regular_expression_is_linear() -> None:
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for pattern in patterns():
            allowed = any(pattern.file == file and pattern.pattern.startswith(start) for file, start in ALLOWED)
            if not allowed and (why := problem(pattern.pattern, pattern.flags, pattern.mode)):
                wrong.append(f"{pattern.file}:{pattern.line} {pattern.pattern[:90]!r} ({pattern.mode}): {why}")
    assert not wrong, "\n".join(wrong)
