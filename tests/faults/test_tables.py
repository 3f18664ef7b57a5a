"""Tables made to take long or much: each is refused with one sentence."""

from pathlib import Path

import pytest

from evenhand.core.errors import BadFile
from evenhand.core.files.readers import MOST_COLUMNS, open_source, rows
from evenhand.core.mining.tables import header_of


def test_a_table_of_30_000_columns_is_refused_in_both_readers(tmp_path: Path) -> None:
    line = ",".join(f"c{n}" for n in range(30_000)) + "\n"
    (tmp_path / "wide.csv").write_text(line * 2)
    with pytest.raises(BadFile, match=r"wide\.csv has 30,000 columns; the limit is 5,000"):
        open_source(tmp_path / "wide.csv")
    with pytest.raises(BadFile, match="30,000 columns"):
        header_of("wide.csv", "csv", line.encode(), "utf-8", None)


def test_the_widest_table_is_read(tmp_path: Path) -> None:
    line = ",".join(f"c{n}" for n in range(MOST_COLUMNS)) + "\n"
    (tmp_path / "wide.csv").write_text(line * 3)
    assert len(list(rows(open_source(tmp_path / "wide.csv")))) == 2
