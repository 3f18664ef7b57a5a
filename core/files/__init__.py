"""Bytes to rows and rows to bytes, for every capability: readers, archives, Excel, CSV without formulas."""
