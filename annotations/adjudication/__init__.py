"""Adjudication of items on which annotators disagree: cases, comments, decisions. Everything is appended."""

from evenhand.annotations.adjudication.cases import AnonymousLabel, Case, Queue, case, case_counts, cases, patterns
from evenhand.annotations.adjudication.comments import Comment, add_comment, comments, every_comment
from evenhand.annotations.adjudication.decisions import (
    Settlement,
    each_settlement_row,
    reopen,
    settle_case,
    settlements,
)

__all__ = [
    "AnonymousLabel",
    "Case",
    "Comment",
    "Queue",
    "Settlement",
    "add_comment",
    "case",
    "case_counts",
    "cases",
    "comments",
    "each_settlement_row",
    "every_comment",
    "patterns",
    "reopen",
    "settle_case",
    "settlements",
]
