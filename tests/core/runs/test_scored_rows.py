"""The sentences about rows with a score, as a job shows them."""

from evenhand.annotations.jobs.jobs import title_in
from evenhand.core.runs.loop import ScoredRows


def test_reasons_are_codes_or_sentences_and_keep_their_braces() -> None:
    rows = ScoredRows(1200, 1198, 2, reasons={"no_keyword": 1, "The model says {x}.": 1})
    assert [title_in(notice, str) for notice in rows.notices] == [
        "1,200 rows: 1,198 scored, 2 without a score; 0 from cache.",
        "Without a score: no keyword (1), The model says {x}. (1).",
    ]
