"""formats brings files in and out: readers (bytes to rows), layouts (rows to items), importing, exporting."""
