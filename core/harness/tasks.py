"""A released set of sentences as a task of lm-evaluation-harness or Inspect: a folder with the pairs and its program.

Source: docs/methods.md#bias-of-a-sentence. The sentences of a pair differ only in the keyword, so the difference of
their log-probabilities equals that of `core.models.whole_sentences`. Direction: positive leans to the male word. A chat
model gives no log-probabilities; the task counts the words that it picks.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from evenhand.core.errors import N_, Refused
from evenhand.core.files.csv_out import json_line
from evenhand.core.types import JsonObject

Harness = Literal["lm-eval", "inspect"]
HARNESSES: tuple[Harness, ...] = ("lm-eval", "inspect")
TEMPLATES = Path(__file__).parent / "templates"
PAIRS = "pairs.jsonl"
GAP = "____"
# Questions to a chat model. The names in braces are those of Inspect.
QUESTIONS = {
    "zh": "下面的句子缺一个词。选出最合适的一个。只回答一行：ANSWER: 后接字母（{letters} 之一）。"
    "\n\n{question}\n\n{choices}",
    "en": "A word is missing in this sentence. Pick the one that fits best. Answer with one line: ANSWER: and the"
    " letter (one of {letters}).\n\n{question}\n\n{choices}",
}


def task_name(project: str, version: str) -> str:
    """Return a name that both harnesses accept: project and version in lower case letters, digits and underscores."""
    words = re.findall(r"[a-z0-9]+", f"{project} {version}".lower())
    return "_".join(["evenhand", *words])[:80]


def pairs(rows: Iterable[Mapping[str, Any]]) -> Iterator[JsonObject]:
    """Yield kept sentences of a release (`data/train.jsonl`) as pairs, the male sentence first; A and B alternate."""
    for number, row in enumerate(rows):
        text, start, end = row["text"], row["start"], row["end"]
        words = [row["keyword"], row["counterpart"]]
        male, female = words if row["side"] == "male" else reversed(words)
        facts = {key: row[key] for key in ("id", "text", "pair", "side", "keyword", "counterpart", "start", "end")}
        yield facts | {
            "choices": [text[:start] + word + text[end:] for word in (male, female)],
            "gap": text[:start] + GAP + text[end:],
            "options": [male, female] if number % 2 == 0 else [female, male],
            "male_is": "AB"[number % 2],
        }


def task_files(
    harness: Harness, rows: Iterable[Mapping[str, Any]], *, project: str, version: str, language: str, content_hash: str
) -> dict[str, str]:
    """Return the content of the files of the task by name. Raises Refused for a set without sentences."""
    found = list(pairs(rows))
    if not found:
        raise Refused(N_("The release contains no sentence with a keyword and its counterpart."))
    name = task_name(project, version)
    title = re.sub(r'[\x00-\x1f\\"{}]', " ", f"{project} {version}, contents {content_hash}").strip()
    lines = "".join(map(json_line, found))
    if harness == "lm-eval":
        task = _template("lm_eval_task.yaml").format(title=title, task=name)
        return {PAIRS: lines, f"{name}.yaml": task, "utils.py": _template("lm_eval_utils.py")}
    question = json.dumps(QUESTIONS.get(language, QUESTIONS["en"]), ensure_ascii=False)[1:-1]
    file = f"{name}.py"
    return {
        PAIRS: lines,
        file: _template("inspect_task.py").format(title=title, task=name, file=file, template=question),
    }


def _template(name: str) -> str:
    return (TEMPLATES / f"{name}.txt").read_text(encoding="utf-8")
