"""Leaks: the section that sends extremes to annotators, blind, and shows what came back."""

from pages._audit_views import show_audit
from pages._models_numbers import rows_for
from pages._models_source import Source
from pages._widgets import open_store


def show_leaks(source: Source, models: list[str]) -> None:
    """Is an extreme value a lean of the model, or does the sentence give the answer away? People judge."""
    with open_store() as store:
        show_audit(rows_for(source, models), store, source.name)
