"""Tokens: signed data is verified; everything else is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.annotations.desk.session import LIFETIME, LONGEST_S, issue, verify
from evenhand.core.errors import NotAllowed

SECRET = b"s" * 32
IDS = {"database": "d1", "project": "p1", "annotator": "a1"}


def test_a_signed_token_is_verified() -> None:
    grant = verify(SECRET, issue(SECRET, **IDS, now=1000.0), now=1001.0)
    assert (grant.database, grant.project, grant.annotator) == ("d1", "p1", "a1")
    assert grant.expires == 1000.0 + 12 * 3600


@pytest.mark.parametrize(
    ("later", "good"), [(0.0, True), (LIFETIME - 1, True), (LIFETIME, False), (LIFETIME + 1, False)]
)
def test_a_token_lives_twelve_hours(later: float, good: bool) -> None:
    token = issue(SECRET, **IDS, now=1000.0)
    if good:
        assert verify(SECRET, token, now=1000.0 + later)
    else:
        with pytest.raises(NotAllowed, match="expired"):
            verify(SECRET, token, now=1000.0 + later)


def test_renewing_ends_after_a_day() -> None:
    token, now = issue(SECRET, **IDS, now=0.0), 0.0
    with pytest.raises(NotAllowed, match="expired"):
        while True:
            grant, now = verify(SECRET, token, now=now), now + 3600.0
            token = issue(SECRET, **IDS, began=grant.began, now=now)
    assert now == LONGEST_S


def test_a_token_of_another_database_is_refused() -> None:
    with pytest.raises(NotAllowed, match="not valid"):
        verify(b"t" * 32, issue(SECRET, **IDS))


@pytest.mark.parametrize("token", ["", ".", "a", "a.b", "é.é", "x" * 5000, "e30.e30", "bnVsbA.bnVsbA", "====.===="])
def test_a_malformed_token_is_refused(token: str) -> None:
    with pytest.raises(NotAllowed):
        verify(SECRET, token)


@given(st.text(max_size=300))
def test_random_text_is_refused_as_a_token(token: str) -> None:
    with pytest.raises(NotAllowed):
        verify(SECRET, token)


@given(st.data())
def test_a_token_with_a_changed_character_is_refused(data: st.DataObject) -> None:
    token = issue(SECRET, **IDS, now=1000.0)
    place = data.draw(st.integers(0, len(token) - 2))  # the last character contains bits that base64 ignores
    letter = data.draw(st.sampled_from("ABCabc019-_."))
    changed = token[:place] + letter + token[place + 1 :]
    if changed == token or place == token.index(".") - 1:
        return
    with pytest.raises(NotAllowed):
        verify(SECRET, changed, now=1001.0)
