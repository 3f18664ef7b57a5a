"""The kept items of a release as Parquet, from their JSON lines."""

import json
from io import BytesIO
from itertools import islice

from evenhand.annotations.release.dataset_card import Columns
from evenhand.annotations.release.stored_releases import FrozenFile, freeze_bytes

PARQUET = "data/train.parquet"
ROWS_AT_ONCE = 20_000  # a row group; so many rows are in memory as objects


def as_parquet(data: FrozenFile, columns: Columns) -> FrozenFile:
    """Return the rows of *data* (JSON lines) with these *columns* as a file of Parquet."""
    import pyarrow as pa  # takes a third of a second
    from pyarrow import parquet

    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in columns])
    written, lines = BytesIO(), data.lines()
    with parquet.ParquetWriter(written, schema, compression="zstd") as writer:
        while rows := [json.loads(line) for line in islice(lines, ROWS_AT_ONCE)]:
            writer.write_table(pa.Table.from_pylist(rows, schema))
    return freeze_bytes(PARQUET, written.getvalue())
