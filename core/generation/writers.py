"""Writers of texts: a model in this process, or a server. Both get tasks and report the texts."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from evenhand.core.errors import EvenhandError
from evenhand.core.generation.contexts import CHUNK, Context, Task, chunks

if TYPE_CHECKING:
    from evenhand.core.models.generating import Generator


@dataclass(frozen=True, slots=True)
class Written:
    """A text that was written; `tokens` None where a server does not say, `seed` the one it was drawn with."""

    task: Task
    completion: str
    tokens: int | None
    seed: int


Keep = Callable[[Sequence[Written]], object]


class Writer(Protocol):
    """Somebody who writes."""

    @property
    def signature(self) -> str:
        """Everything but the seeds that decides a text."""
        ...

    def refusal(self, context: Context) -> EvenhandError | None:
        """Why nothing can be written after a context."""
        ...

    def write(self, found: Sequence[Task], there: Collection[int], keep: Keep) -> list[EvenhandError]:
        """Write the tasks whose numbers are not *there*, and hand each text to *keep* as soon as it is done.

        *found* are all tasks of the run, so that batches are the same when it is resumed. Returns what went wrong
        with single texts; raises what stops the run.
        """
        ...


class LocalWriter:
    """A causal model in this process."""

    def __init__(self, generator: "Generator", chunk: int = CHUNK) -> None:
        self.generator, self.chunk = generator, chunk

    @property
    def signature(self) -> str:
        """See `Writer`."""
        return self.generator.signature

    def refusal(self, context: Context) -> EvenhandError | None:
        """See `Writer`."""
        return self.generator.refusal(context.text)

    def write(self, found: Sequence[Task], there: Collection[int], keep: Keep) -> list[EvenhandError]:
        """See `Writer`. A batch of which a part is there is written again as a whole: only so it comes out the same."""
        from evenhand.core.models.generating import Prompt

        for chunk in chunks(found, self.chunk):
            if all(task.number in there for task in chunk):
                continue
            made = self.generator.write([Prompt(task.context.text, task.seed) for task in chunk])
            keep(
                [
                    Written(task, text.completion, text.tokens, task.seed)
                    for task, text in zip(chunk, made, strict=True)
                    if task.number not in there
                ]
            )
        return []
