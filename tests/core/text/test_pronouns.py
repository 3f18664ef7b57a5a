"""Pronoun sets, the forms a data set counts, and the first-pronoun rule (docs/human_vs_rule.md#the-rule)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.errors import BadFile, Refused
from evenhand.core.text.pronouns import (
    CASES,
    PronounSet,
    first_pronoun,
    first_pronoun_result,
    forms,
    more_sets,
    names_of,
    own_set,
    parse_sets,
    set_named,
    sets,
)

RUFF = {"he", "him", "his", "she", "her", "they", "them", "their", "xe", "xem", "xyr"}


@pytest.mark.parametrize("dataset, count", [("misgendered", 18), ("ruff", 11), ("tango", 17), ("own", 18)])
def test_a_data_set_counts_as_many_forms_as_published(dataset: str, count: int) -> None:
    """docs/misgendering.md#pronoun-sets."""
    assert len(forms(dataset)) == count
    assert "themselves" not in forms(dataset)
    assert list(sets(dataset)) == ["he", "she", "they", "xe"]


def test_ruff_counts_three_cases_only() -> None:
    assert forms("ruff") == RUFF


def test_spellings_of_xe_count_only_in_their_data_set() -> None:
    assert sets("misgendered")["xe"].forms == ("xe", "xem", "xyr", "xyrs", "xemself")
    assert sets("tango")["xe"].forms == ("xe", "xir", "xir", "xirs", "xirself")
    assert "xem" not in forms("tango")
    assert "xir" not in forms("misgendered")


@pytest.mark.parametrize(
    "completion, own, correct, pronoun",
    [
        ("went home. He slept.", "xe", 0, "he"),
        ("Themselves were tired.", "he", 1, None),
        ("went to him/her house", "he", 1, "him"),
        ("xe's here, he said", "xe", 1, "xe"),
        ("No pronoun at all.", "he", 1, None),
        ("hisself he", "xe", 0, "he"),
        ("theirs", "he", 0, "theirs"),
    ],
)
def test_verdicts_equal_the_published_code(completion: str, own: str, correct: int, pronoun: str | None) -> None:
    """docs/human_vs_rule.md#the-rule, computed with the papers' reference code and MISGENDERED's forms."""
    result = first_pronoun_result(completion, [own], "misgendered")
    assert (result.correct, result.pronoun) == (correct, pronoun)


def test_verdicts_depend_on_the_data_set() -> None:
    assert first_pronoun_result("It is hers.", ["he"], "ruff").pronoun is None
    assert first_pronoun_result("It is hers.", ["he"], "misgendered").correct == 0
    assert first_pronoun_result("xem", ["xe"], "tango").pronoun is None
    assert first_pronoun_result("xir", ["xe"], "tango").correct == 1


def test_any_set_of_a_person_is_right() -> None:
    assert first_pronoun_result("They left.", ["she", "they"], "misgendered").correct == 1
    assert first_pronoun_result("Her bag.", ["she", "they"], "misgendered").correct == 1
    assert first_pronoun_result("His bag.", ["she", "they"], "misgendered").correct == 0


def test_a_user_set_is_counted() -> None:
    assert first_pronoun_result("Ze packed hir bag, he said.", ["ze"], "misgendered").correct == 1
    assert first_pronoun_result("Ze packed.", ["he"], "misgendered").pronoun is None  # ze is not given as a set
    assert first_pronoun_result("Ze packed.", ["he"], "misgendered", extra=[set_named("ze")]).correct == 0
    assert first_pronoun_result("Zim again, he said.", parse_sets("zie/zim/zir"), "own").correct == 1


def test_a_person_without_a_named_set_has_no_verdict() -> None:
    result = first_pronoun_result("He slept.", [], "misgendered")
    assert (result.correct, result.pronoun) == (None, "he")
    assert first_pronoun_result("Nothing.", [], "misgendered").correct is None


def test_a_person_without_pronouns_is_misgendered_by_any_pronoun() -> None:
    assert first_pronoun_result("They slept.", parse_sets("none"), "own").correct == 0
    assert first_pronoun_result("Ali slept.", parse_sets("name only"), "own").correct == 1


def test_spans_are_code_points() -> None:
    text = "🙂 同学 said 𝒽e: HERS!"
    result = first_pronoun(text, forms("misgendered"))
    assert result is not None
    assert (result.form, text[result.start : result.end]) == ("hers", "HERS")


@given(st.text(max_size=60), st.sampled_from(sorted(forms("misgendered"))), st.text(max_size=60))
def test_the_position_of_the_first_pronoun_is_right(before: str, form: str, after: str) -> None:
    text = f"{before} {form.upper()} {after}"
    known = forms("misgendered")
    result = first_pronoun(text, known)
    assert result is not None
    assert text[result.start : result.end].lower() == result.form
    assert result.form in known
    assert result.start <= len(before) + 1
    assert first_pronoun(text[: result.start], known) is None


@pytest.mark.parametrize(
    "given_as, names",
    [
        ("he", ("he",)),
        ("He/Him", ("he",)),
        ("he / him / his / himself", ("he",)),
        ("she/her/hers", ("she",)),
        ("she; they", ("she", "they")),
        ("she/they", ("she", "they")),
        ("she/her/they/them", ("she", "they")),
        ("they and xe", ("they", "xe")),
        ("she,she", ("she",)),
        ("她", None),
        ("xe/xem/xyr", ("xe",)),
        ("xe/xir", ("xe/xir",)),
        ("ze/hir/hirs", ("ze",)),
        ("ze/zir/zirs", ("ze/zir",)),
        ("fae/faer or ey/em", ("fae", "ey")),
        ("it/its", ("it",)),
        ("zie/zim/zir", ("zie/zim/zir",)),
        ('["she", "they"]', ("she", "they")),
        (["she", "they/them"], ("she", "they")),
        ("she，they", ("she", "they")),
        ("he 或 they", ("he", "they")),
        ("any", ("he", "she", "they", "xe")),
        ("none", ("none",)),
        ("", ()),
        (None, ()),
        ([], ()),
        ("zorp", None),
        ("[1]", None),
        ("[", None),
        ("a b/c d", None),
        ("a/b/c/d/e/f", None),
        ("zie/", None),
    ],
)
def test_written_pronouns_are_parsed(given_as: str | list[str] | None, names: tuple[str, ...] | None) -> None:
    if names is None:
        with pytest.raises(BadFile, match="is not a known pronoun set"):
            parse_sets(given_as)
    else:
        assert parse_sets(given_as) == names


def test_parsing_a_set_name_is_idempotent() -> None:
    for name in (*sets("own"), *more_sets(), "zie/zim/zir", "none"):
        assert parse_sets(name) == (name,)
        assert set_named(name).name == name


_letters = st.text(alphabet="bcdfgjkmnpqrvwz", min_size=2, max_size=5)


@given(st.lists(_letters, min_size=2, max_size=5, unique=True))
def test_a_set_made_of_forms_contains_each_form(run: list[str]) -> None:
    (name,) = parse_sets("/".join(run))
    assert set(run) <= set(set_named(name).forms)
    assert parse_sets(name) == (name,)
    assert first_pronoun_result(f"said {run[-1]}", (name,), "own").correct == 1


@pytest.mark.parametrize(
    "name, wanted",
    [
        ("thon/thons", ("thon", "thons", "", "", "")),
        ("thon/thon/thons", ("thon", "thon", "", "thons", "")),
        ("zie/zim/zir", ("zie", "zim", "zir", "", "")),
        ("zie/zim/zirself", ("zie", "zim", "", "", "zirself")),
        ("co/co/cos/cos/coself", ("co", "co", "cos", "cos", "coself")),
        ("ve/ver/vis/viz/vex", ("ve", "ver", "vis", "viz", "vex")),
    ],
)
def test_forms_are_assigned_to_cases(name: str, wanted: tuple[str, ...]) -> None:
    assert set_named(name).forms == wanted
    assert [set_named(name).form(case) for case in CASES] == list(wanted)


def test_sets_are_found_by_form() -> None:
    assert names_of("Her", "misgendered") == ("she",)
    assert names_of("hir", "misgendered") == ()
    assert names_of("hir", "misgendered", [set_named("ze")]) == ("ze",)
    assert names_of("", "own", [PronounSet("none", "", "", "", "", "")]) == ()


def test_an_unknown_data_set_is_one_sentence() -> None:
    with pytest.raises(Refused, match="The pronouns of the data set sherlock are not known"):
        first_pronoun_result("he", ["he"], "sherlock")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ze/hir/hir/hirs/hirself", "ze"),
        ("Fae / Faer / Faer / Faers / Faerself", "fae"),
        ("xe/xir/xir/xirs/xirself", "xe/xir"),
        ("zie/zim/zir/zirs/zirself", "zie/zim/zir/zirs/zirself"),
        ("they/them/their/theirs/themselves", "they/them/their/theirs/themselves"),
    ],
)
def test_an_own_set_has_five_forms(text: str, name: str) -> None:
    pronouns = own_set(text)
    assert pronouns.name == name
    assert pronouns.forms == tuple(form.strip().lower() for form in text.split("/"))
    assert first_pronoun_result(f"said {pronouns.ref}.", (name,), "own").correct == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "ze/hir",
            "has 2 forms; five are needed",
        ),
        (
            "",
            "has 1 forms; five are needed",
        ),
        (
            "ze/hir//hirs/hirself",
            "has 4 forms; five are needed",
        ),
        ("ze/hir/hir/hirs/hirself/more", "has 6 forms"),
        ("ze/hir/hir/hi rs/hirself", "hi rs is not a pronoun"),
        ("ze/<b>/hir/hirs/hirself", "<b> is not a pronoun"),
        ("ze/hir/hir/hirs/" + "x" * 21, "at most 20"),
    ],
)
def test_an_own_set_without_five_forms_is_refused(text: str, says: str) -> None:
    with pytest.raises(BadFile) as caught:
        own_set(text)
    assert says in str(caught.value)
