"""Docstrings, comments and documents: words and openings that slow readers down may only become fewer."""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.scan

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ("annotations", "core", "pages", "web", "commands", "evenhand", "benchmarks", "training", "tests")

# What to write instead is in docs/contributing.md.
WORDS = {
    "a person without a name": r"\b(who|what|which|how|when)ever\b|\bsomebody\b|\bnobody\b",
    "stands for is": r"\bstands?\b(?! for| out| by| alone)",
    "beside for next to": r"\bbeside\b",
    "is no for is not a": r"\b(is|are|was|were) no\b",
    "an old word": r"\b(anew|oftener|likelier|thereof|wherein|whereof|hence|thus|commonest|lest|ere)\b",
    "a participle as a noun": r"\b(what|as) (is|was) (said|told|asked|meant|there|here)\b",
    "an idiom": r"\b(for good|on the whole|for (its|his|their) part|of its own accord|to be (had|seen|found|done))\b",
}
ANY_WORD = re.compile("|".join(WORDS.values()), re.I)
VERBLESS = re.compile(r"(Whether|What|How|Which|Where|Who|Why|The same|As |Those|That |Of )")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (ast.Module, ast.ClassDef, *FUNCTIONS)
NO_VERB = "a docstring without a verb first"

# Lower a number when a commit makes it too high; it never rises.
LIMITS = {"benchmarks": 3, "core": 0, "docs": 4}


def texts_of_python(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Yield (line, text, whether it is the docstring of a function) for each docstring and comment of a file."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), text, isinstance(node, FUNCTIONS)
    if ANY_WORD.search(source):  # telling comments from texts takes longer than all the rest
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string, False


def texts_of_markdown(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Yield (line, text, False) for each line of a document outside code blocks."""
    source = path.read_text(encoding="utf-8")
    without_code = re.sub(r"```.*?```", lambda block: "\n" * block.group().count("\n"), source, flags=re.S)
    for line, text in enumerate(without_code.splitlines(), 1):
        yield line, text, False


def markers(text: str, is_function: bool) -> list[str]:
    """Return the name of each thing to rewrite in a text, once for each time it occurs."""
    plain = re.sub(r"`[^`]*`", "", text)
    names = [name for name, pattern in WORDS.items() for _ in re.finditer(pattern, plain, re.I)]
    return names + [NO_VERB] * (is_function and VERBLESS.match(plain) is not None)


def hits() -> Iterator[tuple[str, str]]:
    """Yield (top-level folder, "file:line: marker: text") for all that is to be rewritten."""
    files = [file for layer in LAYERS for file in (ROOT / layer).rglob("*.py")]
    files += [
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs").glob("*.py"),
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
    ]
    for file in sorted(files):
        name = file.relative_to(ROOT)
        texts = texts_of_markdown(file) if file.suffix == ".md" else texts_of_python(file)
        for line, text, is_function in texts:
            for marker in markers(text, is_function):
                yield name.parts[0], f"{name}:{line}: {marker}: {text.strip().splitlines()[0][:100]}"


@pytest.mark.parametrize(
    ("text", "is_function", "expected"),
    [
        ("Return the label.", True, []),
        ("Whether the label counts.", True, [NO_VERB]),
        ("Whether the label counts.", False, []),
        ("Whoever labels stands beside it.", False, ["a person without a name", "stands for is", "beside for next to"]),
        ("`beside` in code is fine", False, []),
        ("it stands for the set, and is no set", False, ["is no for is not a"]),
    ],
)
def test_markers(text: str, is_function: bool, expected: list[str]) -> None:
    assert markers(text, is_function) == expected


def test_hard_english_only_becomes_less() -> None:
    found = list(hits())
    counts = Counter(folder for folder, _ in found)
    above = {folder for folder, count in counts.items() if count > LIMITS.get(folder, 0)}
    assert not above, "\n".join(line for folder, line in found if folder in above)
    too_high = {folder: counts[folder] for folder, limit in LIMITS.items() if counts[folder] < limit}
    assert not too_high, f"Lower LIMITS to {too_high}."
