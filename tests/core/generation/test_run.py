"""Contexts, seeds and batches; a file that grows, is torn and continues; runs that are killed and resumed."""

import json
import random
import signal
import subprocess
import sys
import textwrap
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.errors import BadFile, EvenhandError, Refused
from evenhand.core.generation.backends import Keep, Written
from evenhand.core.generation.inputs import (
    BUILT_IN,
    Context,
    ContextInput,
    Filling,
    Task,
    chunks,
    context_digest,
    contexts_of,
    open_contexts,
    seed_of,
    tasks,
)
from evenhand.core.generation.resumable_file import GrowingFile
from evenhand.core.generation.run import Settings, run
from evenhand.core.misgendering.template_files import built_in
from evenhand.core.runs.kinds import Place
from evenhand.core.runs.records import first_rows, run_file, runs_folder, runs_in, write_record

pytestmark = pytest.mark.early
ROOT = Path(__file__).resolve().parents[3]
TEXTS = st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=12, unique=True)


@given(TEXTS, st.integers(1, 4), st.integers(0, 5), st.randoms())
def test_seeds_do_not_depend_on_order_or_batches(texts: list[str], each: int, seed: int, rng: random.Random) -> None:
    contexts = [Context(text) for text in texts]
    mixed = rng.sample(contexts, len(contexts))
    seeds = {(task.context.text, task.index): task.seed for task in tasks(contexts, each, seed)}
    assert seeds == {(task.context.text, task.index): task.seed for task in tasks(mixed, each, seed)}
    batches, again = (
        [[(task.context.text, task.index) for task in chunk] for chunk in chunks(tasks(found, each, seed), 5)]
        for found in (contexts, mixed)
    )
    assert batches == again and sum(map(len, batches)) == len(texts) * each
    assert all(0 <= value < 2**53 for value in seeds.values())


def test_a_seed_depends_on_context_person_and_number() -> None:
    results = [
        Context("So "),
        Context("So ", name="Kim"),
        Context("So ", pronouns=("she",)),
        Context("So ", dataset="ruff"),
        Context("So ", setting="pre"),
    ]
    seeds = [seed_of(42, entry.key, index) for entry in results for index in (0, 1)]
    assert len(set(seeds)) == 10 and seed_of(43, results[0].key, 0) not in seeds
    # what merely goes along changes no text
    assert Context("So ", extra={"note": 1}, template="t").key == Context("So ").key


def test_a_repeated_context_counts_once() -> None:
    result = tasks([Context("a", template="first"), Context("b"), Context("a", template="second")], 2)
    assert [(task.context.text, task.index, task.number) for task in result] == [
        ("a", 0, 0),
        ("a", 1, 1),
        ("b", 0, 2),
        ("b", 1, 3),
    ]
    assert result[0].context.template == "first"


@pytest.mark.parametrize(("number", "each"), [(0, 1), (1, 0)])
def test_zero_contexts_or_texts_are_refused(number: int, each: int) -> None:
    with pytest.raises(Refused):
        tasks([Context("a")] * number, each)


def test_a_row_has_every_field_of_an_import() -> None:
    context = Context("So ", "Kim", ("she", "they"), "own", "pre", "own:nom-1", {"note": "kept", "model": "no"})
    row = tasks([context], 1)[0].row("it goes.", "tiny", "sampling|tiny", 7)
    assert row | {"note": "kept"} == row and row["model"] == "tiny" and row["pronouns"] == ["she", "they"]
    assert (row["context"], row["completion"], row["index"], row["seed"]) == ("So ", "it goes.", 0, 7)
    assert tasks([Context("Then ")], 1)[0].row("x", "m", "s", 1)["template"] == "Then "


class Counting:
    """A writer without a model: the text is its seed; it breaks after a given number of texts."""

    signature = "counting|v1"

    def __init__(self, after: int | None = None, batch: int = 3) -> None:
        self.after, self.batch, self.made = after, batch, 0

    def refusal(self, context: Context) -> EvenhandError | None:
        return None

    def write(self, found: Sequence[Task], there: Collection[int], keep: Keep) -> list[EvenhandError]:
        for chunk in chunks(found, self.batch):
            left = [task for task in chunk if task.number not in there]
            if not left:
                continue
            if self.after is not None and self.made + len(left) > self.after:
                raise KeyboardInterrupt
            self.made += len(left)
            keep([Written(task, f"text {task.seed}", 4, task.seed) for task in left])
        return []


def fill(path: Path, found: list[Task], writer: Counting, request: dict[str, object] | None = None) -> None:
    with GrowingFile(path, request or {"seed": 1}) as file:
        writer.write(
            found,
            file.places,
            lambda new: file.append((entry.task.number, {"text": entry.completion}) for entry in new),
        )
        file.finish()


@settings(max_examples=30)
@given(st.integers(0, 30), st.integers(1, 6), st.integers(0, 60))
def test_a_run_broken_anywhere_and_resumed_gives_equal_bytes(
    tmp_path_factory: pytest.TempPathFactory, after: int, batch: int, torn: int
) -> None:
    folder = tmp_path_factory.mktemp("grow")
    result = tasks([Context(f"{'x' * (n % 4)} {n}") for n in range(10)], 3)
    fill(folder / "whole", result, Counting(batch=batch))
    first = Counting(after, batch)
    try:
        fill(folder / "broken", result, first)
    except KeyboardInterrupt:
        begun = folder / ".broken.begun"
        data = begun.read_bytes()
        begun.write_bytes(data[: max(0, len(data) - torn)])  # the last lines never reached the disk
        fill(folder / "broken", result, Counting(batch=batch))
    assert (folder / "broken").read_bytes() == (folder / "whole").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["broken", "whole"]


def test_finished_rows_are_not_written_again(tmp_path: Path) -> None:
    result = tasks([Context(str(n)) for n in range(10)], 3)
    broken, rest = Counting(after=16), Counting()
    with pytest.raises(KeyboardInterrupt):
        fill(tmp_path / "a", result, broken)
    fill(tmp_path / "a", result, rest)
    assert broken.made + rest.made == 30 and broken.made > 0
    assert len((tmp_path / "a").read_text().splitlines()) == 30


def test_another_request_does_not_continue_a_file(tmp_path: Path) -> None:
    result = tasks([Context(str(n)) for n in range(10)], 1)
    with pytest.raises(KeyboardInterrupt):
        fill(tmp_path / "a", result, Counting(after=4))
    with pytest.raises(Refused, match="seed"):
        fill(tmp_path / "a", result, Counting(), {"seed": 2})
    fill(tmp_path / "a", result, Counting())


def test_a_file_of_two_programs_is_refused(tmp_path: Path) -> None:
    with GrowingFile(tmp_path / "a", {}), pytest.raises(Refused, match="Another program is writing"):
        GrowingFile(tmp_path / "a", {})
    GrowingFile(tmp_path / "a", {}).finish()


def test_a_growing_file_is_private(tmp_path: Path) -> None:
    with GrowingFile(tmp_path / "new" / "a", {}) as file:
        file.append([(0, {"text": "\ud800 half a character"})])
        assert [path.stat().st_mode & 0o077 for path in (tmp_path / "new").iterdir()] == [0, 0]
        file.finish()
    assert (tmp_path / "new" / "a").stat().st_mode & 0o077 == 0


# ---- contexts


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.jsonl", '{"context": "So ", "name": "Kim", "pronouns": "she/they", "more": 1}\n', ("So ", ("she", "they"))),
        ("a.jsonl", '{"prompt": "So", "pronouns": ["xe"]}\n', ("So", ("xe",))),
        ("a.csv", "text,pronoun\nSo then,he\n", ("So then", ("he",))),
        ("a.txt", "So then\n", ("So then", ())),
    ],
)
def test_contexts_are_read_from_files(
    tmp_path: Path, name: str, content: str, expected: tuple[str, tuple[str, ...]]
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    result = open_contexts(tmp_path / name).contexts
    assert [(context.text, context.pronouns) for context in result] == [expected]


def test_extra_fields_of_a_context_are_kept(tmp_path: Path) -> None:
    row = {
        "context": "So ",
        "name": "Kim",
        "dataset": "TANGO",
        "setting": "pre",
        "template": "t1",
        "more": [1],
        "model": "x",
        "completion": "y",
    }
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    assert open_contexts(tmp_path / "a.jsonl").contexts == (
        Context("So ", "Kim", (), "tango", "pre", "t1", {"more": [1]}),
    )


def test_unusable_rows_of_contexts_are_counted(tmp_path: Path) -> None:
    rows = [{"context": "So "}, {"context": " "}, {"context": "B", "pronouns": "blurp"}, {"context": "So "}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = open_contexts(tmp_path / "a.jsonl")
    assert [problem.line for problem in result.problems] == [2, 3] and result.twice == 1
    assert result.facts()["unusable"] == 2 and result.facts()["contexts"] == 1


@pytest.mark.parametrize(
    ("name", "content"), [("a.csv", "one,two\n1,2\n"), ("a.jsonl", '{"context": ""}\n'), ("a.jsonl", "")]
)
def test_a_file_without_contexts_is_refused(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(BadFile):
        open_contexts(tmp_path / name)


def test_the_built_in_set_gives_its_contexts() -> None:
    fillings = (Filling(settings=(setting,), only=("xe",)) for setting in ("pre", "post"))
    pre, post = (list(contexts_of(built_in(), filling)) for filling in fillings)
    assert len(pre) == len(post) > 30 and {entry.pronouns for entry in pre + post} == {("xe",)}
    for before, after in zip(pre, post, strict=True):
        assert after.text.startswith(before.text) and before.template == after.template
    both = open_contexts(BUILT_IN, Filling(passes=2)).contexts
    assert {context.setting for context in both} == {"pre", "post"} and len(both) > 4 * len(pre)
    assert len({context.pronouns for context in both}) == 4


def test_a_table_of_templates_gives_contexts(tmp_path: Path) -> None:
    (tmp_path / "own.tsv").write_text("id\tcase\ttext\nt1\tnom\t{name} uses {pronouns}. Today [MASK] swam.\n")
    result = open_contexts(tmp_path / "own.tsv", Filling(settings=("pre",), only=("she",))).contexts
    assert [context.text.partition(" ")[2] for context in result] == ["uses she/her/hers. Today "]
    trimmed = open_contexts(tmp_path / "own.tsv", Filling(settings=("pre",), only=("she",), trim=True)).contexts
    assert trimmed[0].text == result[0].text.rstrip()


def test_the_digest_covers_every_field_of_a_context() -> None:
    results = {
        context_digest([context])
        for context in (Context("a"), Context("b"), Context("a", template="t"), Context("a", extra={"x": 1}))
    }
    assert len(results) == 4


# ---- runs


def test_runs_are_listed_the_newest_first(tmp_path: Path) -> None:
    folder = runs_folder(tmp_path / "labels.db", "generations")
    assert folder.name == "labels-generations" and runs_in(folder) == []
    for number, name in enumerate(("old", "new")):
        path = run_file(folder, name, ".jsonl")
        fill(path, tasks([Context(name)], 2), Counting())
        write_record(path, {"model": "m", "generations": 2, "created": f"2026-01-0{number + 1}", "contexts": 1})
    runs = runs_in(folder)
    assert [run.name for run in runs] == ["new", "old"] and runs[0].count("generations") == 2
    assert len(first_rows(runs[0].table, 1)) == 1
    with pytest.raises(Refused):
        run_file(folder, "new", ".jsonl")
    runs[0].delete()
    assert [run.name for run in runs_in(folder)] == ["old"]
    assert run_file(folder, "v1.5 of it", ".jsonl").name == "v1.5 of it.jsonl"


# Writes until two batches are on disk, prints that, and waits there to be killed.
WRITER = """
    import sys, time
    from pathlib import Path
    from tests.core.generation.test_run import asked
    from evenhand.core.generation.run import run
    from evenhand.core.runs.kinds import Place
    def stop(done, total=None, message=""):
        if done >= 16:
            print("two batches", flush=True)
            time.sleep(600)
    run(asked(sys.argv[1], sys.argv[2]), Place(Path(sys.argv[3]), stop))
"""


def asked(model: str, name: str) -> Settings:
    return Settings(contexts=BUILT_IN, model=model, run_name=name, each=2, tokens=8, chunk=8, threads=1, limit=30)


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    """Return the folder of a causal model of a few dozen weights."""
    from tests.support.tiny_models import tiny_causal

    (tmp_path / "model").mkdir()
    return str(tiny_causal(tmp_path / "model", "llama", max_position_embeddings=256))


@pytest.mark.rehearsal
def test_a_killed_run_is_resumed_with_equal_bytes(tmp_path: Path, tiny: str) -> None:
    """SIGKILL in the middle, then the same request: byte for byte what one start writes, and nothing twice."""
    folder = tmp_path / "lab-generations"
    script = [sys.executable, "-c", textwrap.dedent(WRITER), tiny, "killed", str(tmp_path / "lab.db")]
    with subprocess.Popen(script, cwd=ROOT, stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout and killed.stdout.readline().strip() == "two batches"
        killed.send_signal(signal.SIGKILL)
    assert killed.returncode == -signal.SIGKILL and not (folder / "killed.jsonl").exists()
    seen: list[int] = []
    place = Place(tmp_path / "lab.db", lambda done, *_: seen.append(done))
    resumed, whole = (run(asked(tiny, name), place) for name in ("killed", "whole"))
    assert (folder / "killed.jsonl").read_bytes() == (folder / "whole.jsonl").read_bytes()
    assert (resumed.resumed, resumed.written, whole.resumed, whole.written) == (16, 44, 0, 60)
    assert seen[0] == 16 and seen[-1] == 60
    rows = [json.loads(line) for line in (folder / "killed.jsonl").read_text().splitlines()]
    identities = {(row["context"], row["name"], *row["pronouns"], row["setting"], row["index"]) for row in rows}
    assert len(identities) == len(rows) == 60
    assert {row["signature"] for row in rows} == {whole.signature}
    assert json.loads((folder / "killed.json").read_text())["resumed"] == 16
    assert sorted(path.name for path in folder.glob("*.json*")) == [
        "killed.json", "killed.jsonl", "whole.json", "whole.jsonl",
    ]  # fmt: skip
    assert not list(folder.glob(".killed*"))


def test_the_facts_of_an_input_count_its_contexts() -> None:
    result = ContextInput("x", (Context("a"),), twice=2)
    assert result.facts() == {
        "name": "x",
        "contexts": 1,
        "sha256": context_digest([Context("a")]),
        "unusable": 0,
        "twice": 2,
    }
