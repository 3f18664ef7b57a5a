"""Own schemes: the sentences of refusals, files of three kinds, what a version stores."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline import scheme as schemes
from evenhand.annotations.guideline.drafts import Draft, read_draft, save_draft, write_version
from evenhand.annotations.guideline.import_schemes import read_any_scheme
from evenhand.annotations.guideline.scheme import OwnScheme, as_data, from_data, more_in, more_out, scheme_text
from evenhand.annotations.guideline.versions import guideline, guidelines, refuse_own_scheme
from evenhand.annotations.projects.projects import create_project
from evenhand.annotations.types import Choice, Question, Scheme
from evenhand.core.errors import BadFile, EvenhandError, Refused
from tests.support.own_schemes import DATA, own_project, own_scheme, say

ONE = {"code": "one", "en": "One"}
TWO = {"code": "two", "en": "Two"}


def options(*rows: dict[str, Any], **parts: Any) -> dict[str, Any]:
    return {"choices": list(rows), **parts}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([], "is not a scheme"),
        ({}, "is not a scheme"),
        ({"choices": "one"}, "is not a scheme"),
        (options(ONE, TWO, kinds=[]), "is not a scheme: kinds"),
        (options(ONE, {"en": "without code"}), "is not a scheme: choices"),
        (options(ONE, TWO | {"colour": "red"}), "is not a scheme: choices"),
        (options(ONE, TWO | {"key": True}), "is not a scheme: choices"),
        (options(ONE, TWO | {"en": ["Two"]}), "is not a scheme: choices"),
        (options(ONE), "2 to 20 choices, not 1"),
        (options(*({"code": f"c{n}", "en": "C"} for n in range(21))), "2 to 20 choices, not 21"),
        (options(ONE, TWO, flags=[{"code": f"f{n}", "en": "F"} for n in range(21)]), "at most 20 flags"),
        (options(ONE, TWO, spans=[{"code": f"s{n}", "en": "S"} for n in range(13)]), "12 kinds of spans"),
        (options(ONE, ONE), "The code one occurs twice"),
        (options(ONE, TWO, flags=[ONE]), "The code one occurs twice"),
        (options(ONE, TWO, spans=[TWO]), "The code two occurs twice"),
        (options(ONE | {"key": "1"}, TWO | {"key": "1"}), "two and one have the same key 1"),
        (
            options(ONE | {"key": "a"}, TWO, flags=[{"code": "f", "en": "F", "key": "A"}]),
            "f and one have the same key A",
        ),
        (options(ONE | {"key": "n"}, TWO), "The key 'n' of one cannot be used"),
        (options(ONE | {"key": "12"}, TWO), "The key '12' of one cannot be used"),
        (options(ONE | {"key": "é"}, TWO), "The key 'é' of one cannot be used"),
        (options(ONE, TWO | {"code": "two words"}), "'two words' is not a valid code"),
        (options(ONE, TWO | {"code": "zwei;drei"}), "is not a valid code"),
        (options(ONE, TWO | {"code": "x" * 41}), "is not a valid code"),
        (options(ONE, TWO | {"code": "Skip"}), "Skip is a reserved code"),
        (options(ONE, TWO | {"code": "accept"}), "accept is a reserved code"),
        (options(ONE, {"code": "two"}), "two needs a name"),
        (options(ONE, TWO | {"en": " "}), "two needs a name"),
        (options(ONE, TWO | {"zh": "x" * 81}), "two needs a name"),
        (options(ONE, TWO | {"zh": "a\nb"}), "two needs a name"),
        (options(ONE, TWO | {"needs": "slur"}), "two needs a span of the kind slur, which"),
        (options(ONE, TWO, spans=[{"code": "s", "en": "S", "needs": "s"}]), "s needs a span of the kind s, which"),
        (options(ONE, TWO | {"about": "x" * 401}), "The description of two"),
        (options(ONE, TWO | {"about": "a\u2028b"}), "The description of two"),
        (options(ONE, TWO, questions=[{"code": "q", "en": "Q"}]), "is not a scheme: questions"),
        (options(ONE, TWO, questions=[{"code": "q", "en": "Q", "text": True, "scale": [1, 5]}]), "is not a scheme"),
        (options(ONE, TWO, questions=[{"code": "q", "en": "Q", "scale": [1, "5"]}]), "is not a scheme: questions"),
        (options(ONE, TWO, questions=[{"code": "q", "en": "Q", "scale": [1, True]}]), "is not a scheme: questions"),
        (options(ONE, TWO, questions=[{"code": "q", "en": "Q", "scale": [5, 1]}]), "The scale of q must start"),
        (options(ONE, TWO, questions=[{"code": "q", "en": "Q", "scale": [1, 12]}]), "have 2 to 11 points"),
        (options(ONE, TWO, questions=[{"code": "q", "en": "Q", "scale": [1, 10**12]}]), "have 2 to 11 points"),
        (options(ONE, TWO, questions=[{"code": "q", "en": "Q", "scale": [10, 12], "key": "q"}]), "exceeds 10"),
        (options(ONE, TWO, questions=[{"code": "q", "en": "Q", "text": True, "key": "q"}]), "cannot have a key"),
        (options(ONE, TWO, questions=[{"code": c, "en": "Q", "text": True} for c in "pq"]), "at most one text"),
        (options(ONE, TWO, questions=[{"code": "one", "en": "Q", "text": True}]), "The code one occurs twice"),
        (
            options(ONE, TWO, questions=[{"code": f"q{n}", "en": "Q", "scale": [1, 2]} for n in range(13)]),
            "12 questions",
        ),
        (options(ONE, TWO, questions=[{"code": "q", "en": "Q", "scale": [1, 2], "low_en": "x" * 81}]), "the ends of q"),
    ],
)
def test_an_invalid_scheme_is_refused(data: Any, says: str) -> None:
    with pytest.raises(EvenhandError, match=says.replace("(", r"\(")):
        from_data(data, "file")


TOML = """
[[choices]]
code = "one"
key = 1
en = "One"
about = "The first"
[[choices]]
code = "two"
en = "Two"
needs = "s"
[[spans]]
code = "s"
zh = "片段"
"""
YAML = """
choices:
  - {code: one, key: 1, en: One, about: The first}
  - {code: two, en: Two, needs: s}
flags:
spans:
  - code: s
    zh: 片段
"""
WRITTEN = OwnScheme(
    (Choice("one", "1", "", "One"), Choice("two", "", "", "Two")), (),
    Scheme((Choice("s", "", "片段", ""),), (("two", "s"),), (("one", "The first"),)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.toml", TOML), ("a.yaml", YAML), ("a.YML", YAML), ("a.json", "\ufeff" + json.dumps(as_data(WRITTEN)))],
)
def test_toml_yaml_and_json_give_equal_schemes(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert read_any_scheme(path).scheme == WRITTEN


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.json", b"{"), ("a.json", b"[" * 100_000), ("a.json", b"\xff\xfe"), ("a.toml", b"choices = "),
        ("a.yaml", b"choices: [*a]"), ("a.yaml", b"a: &a [x,x]\nchoices: [*a,*a]"),
        ("a.yaml", b"!!python/object/apply:os.system ['true']"), ("a.yaml", b"\x00"), ("a.yaml", b": : :"),
        ("a.yaml", b"x" * 200_001), ("a.yaml", b"just words"),
    ],
)  # fmt: skip
def test_hostile_files_are_refused_with_a_sentence(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(BadFile, match=name):
        read_any_scheme(path)
    with pytest.raises(BadFile, match=r"missing\.json"):
        read_any_scheme(tmp_path / "missing.json")


NAMES = st.text(st.characters(categories=("L", "N", "P")), max_size=12)


@st.composite
def any_scheme(draw: st.DrawFn) -> OwnScheme:
    codes = draw(st.lists(st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True), min_size=4, max_size=14, unique=True))
    codes = [f"x{code}" for code in codes]
    keys = iter(draw(st.permutations("abcdefgijklopqrstvyz123456789")))
    made = [Choice(code, next(keys) if draw(st.booleans()) else "", draw(NAMES), draw(NAMES) or code) for code in codes]
    choices, rest = made[:2], made[2:]
    cut = draw(st.integers(0, len(rest) - 1))
    flags, spans = rest[:cut], rest[cut:]
    needs = [(choice.code, draw(st.sampled_from(spans)).code) for choice in (*choices, *flags) if draw(st.booleans())]
    about = [(entry.code, f"said {draw(NAMES)}.") for entry in made if draw(st.booleans())]
    questions = [
        Question("scale", next(keys), "", draw(NAMES) or "S", 1, draw(st.integers(2, 10)), high_en=draw(NAMES))
    ]
    questions += [Question("text", "", "文", "", required=True)] if draw(st.booleans()) else []
    return OwnScheme(tuple(choices), tuple(flags), Scheme(tuple(spans), tuple(needs), tuple(about), tuple(questions)))


@settings(max_examples=15)
@given(any_scheme())
def test_a_scheme_survives_file_and_database(scheme: OwnScheme) -> None:
    assert from_data(json.loads(json.dumps(as_data(scheme))), "file") == scheme
    assert more_in(json.loads(json.dumps(more_out(scheme.more)))) == scheme.more


def test_a_changed_scheme_is_a_new_version_next_to_the_old_one(fresh_store: Store) -> None:
    project = own_project(fresh_store, "own")
    first = guideline(fresh_store, project)
    assert schemes.own_scheme(first) == own_scheme()
    assert say(fresh_store, project, "Ada", 0, "helpful", "stereotype").stored
    without = own_scheme(flags=[], spans=DATA["spans"][:1])
    draft = Draft(1, first.text, without.choices, without.flags, "No flags.", scheme=without.more)
    save_draft(fresh_store, project, draft)
    assert read_draft(fresh_store, project).scheme == without.more
    made, sent = write_version(fresh_store, project, draft, which="named")
    assert [schemes.own_scheme(version) for version in guidelines(fresh_store, project)] == [own_scheme(), without]
    assert (made.version, sent.labels) == (2, 1), "the label with the dropped flag goes back"
    for table, what in (("scheme", "content = '{}'"), ("guideline", "text = ''")):
        with pytest.raises(Exception, match="new version"):
            fresh_store.db.execute(f"UPDATE {table} SET {what}")


def test_only_generations_take_a_scheme_and_the_built_in_is_the_default(fresh_store: Store) -> None:
    own = own_scheme()
    parts = {"choices": own.choices, "reasons": own.flags, "scheme": own.more}
    with pytest.raises(Refused, match="Only projects of generations"):
        create_project(fresh_store, "sentences", **parts)
    built = create_project(fresh_store, "built", kind="generations")
    assert guideline(fresh_store, built).scheme is None
    assert [choice.code for choice in guideline(fresh_store, built).choices][1] == "misgendering"
    refuse_own_scheme(fresh_store, built)
    with pytest.raises(Refused, match="has a custom scheme"):
        refuse_own_scheme(fresh_store, own_project(fresh_store, "own"))


def test_a_missing_guideline_text_is_generated_from_the_scheme() -> None:
    text = scheme_text(own_scheme(choices=[*DATA["choices"], {"code": "x", "en": "*<b>*"}]), "en")
    assert "- **Helpful**: Answers what was asked" in text and r"**\*\<b\>\***" in text
    assert "### 片段" in scheme_text(own_scheme(), "zh") and "**Neither**" in scheme_text(own_scheme(), "zh")
