"""Lines of a file that an import could not use: counted by reason, the first ones listed."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from evenhand.core.errors import BadLine
from evenhand.core.types import Problem

LISTED = 10_000  # problems listed in a report; others are only counted, to bound the memory


@dataclass(slots=True, kw_only=True)
class Rejections:
    """The lines that could not be used: their number, how many for each reason code, and the first 10,000."""

    rejected: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    errors: list[Problem] = field(default_factory=list)

    def note(self, problem: Problem) -> None:
        """Count a line that could not be used."""
        self.rejected += 1
        self.reasons[problem.reason] += 1
        if len(self.errors) < LISTED:
            self.errors.append(problem)

    def errors_json(self) -> list[dict[str, Any]]:
        """Return the listed lines as `import --json` prints them; messages are English."""
        return [
            {"file": error.file, "line": error.line, "reason": error.reason, "message": english_problem(error)}
            for error in self.errors
        ]


def problem_of(error: BadLine, **more: Any) -> Problem:
    """Return the facts of an error; *more*: further values."""
    return Problem(error.file, error.line, error.reason, error.message, error.values | more)


def english_problem(problem: Problem) -> str:
    """The sentence of a problem in English; `values` may hold more than it names."""
    return problem.message.format(**problem.values) if problem.values else problem.message
