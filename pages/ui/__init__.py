"""The only shared UI: page head, sentences, tables, tiles, style sheet, numbers, uploads, models to choose, runs."""
