"""Generations made here: contexts, a seed for every text, a file that grows and can be resumed, and who writes."""

from evenhand.core.generation.contexts import Context, Task, chunks, context_digest, tasks
from evenhand.core.generation.growing_file import GrowingFile
from evenhand.core.generation.writers import Writer, Written

__all__ = ["Context", "GrowingFile", "Task", "Writer", "Written", "chunks", "context_digest", "tasks"]
