"""Settling what annotators disagree on: cases side by side, comments, decisions; all of it is appended."""

from annotations.adjudication.cases import Case, Queue, Said, case, cases, counted, patterns
from annotations.adjudication.comments import Comment, add_comment, comments, every_comment
from annotations.adjudication.decisions import Settlement, each_settlement_row, reopen, settle_case, settlements

__all__ = [
    "Case",
    "Comment",
    "Queue",
    "Said",
    "Settlement",
    "add_comment",
    "case",
    "cases",
    "comments",
    "counted",
    "each_settlement_row",
    "every_comment",
    "patterns",
    "reopen",
    "settle_case",
    "settlements",
]
