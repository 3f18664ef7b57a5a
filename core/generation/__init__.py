"""Generations made here: contexts, a seed for every text, a file that grows and can be resumed, and who writes."""

from core.generation.contexts import Context, Task, chunks, context_digest, tasks
from core.generation.growing_file import GrowingFile
from core.generation.writers import Writer, Written

__all__ = ["Context", "GrowingFile", "Task", "Writer", "Written", "chunks", "context_digest", "tasks"]
