"""Tuning a model: texts, swapped or not, in; a folder that loads like any model, with its card, out (docs/tune.md)."""
