"""Timestamps in the one form that the database uses."""

from typing import Any

import pytest

from evenhand.core.files.timestamps import moment


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-01-31T09:30:00.123Z", "2026-01-31T09:30:00.123Z"),
        ("2026-01-31T09:30:00.123456+08:00", "2026-01-31T01:30:00.123Z"),
        (" 2026-01-31 09:30 ", "2026-01-31T09:30:00.000Z"),  # without a zone: UTC, wherever the file is read
        ("2026-01-31", "2026-01-31T00:00:00.000Z"),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
        ("1970-01-01T00:00:00+01:00", None),
        ("0001-01-01T00:00:00+23:59", None),
        ("9999-12-31T23:59:59-23:59", None),
        ("2100-01-01", None),
        ("yesterday", None),
        ("", None),
        (1_700_000_000, None),
        (None, None),
    ],
)
def test_a_timestamp_is_utc_with_milliseconds(written: Any, read: str | None) -> None:
    assert moment(written) == read
