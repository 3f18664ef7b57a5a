"""Leaks: the section that sends extremes to annotators, blind, and shows what came back."""

from pages.model_bias.leaks import show_audit
from pages.model_bias.numbers import rows_for
from pages.ui.head import open_store
from pages.ui.score_files import ScoreFile


def show_leaks(source: ScoreFile, models: list[str]) -> None:
    """Is an extreme value a lean of the model, or does the sentence give the answer away? People judge."""
    with open_store() as store:
        show_audit(rows_for(source, models), store, source.name)
