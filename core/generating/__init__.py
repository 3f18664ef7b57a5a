"""Generations made here: contexts, a seed for every text, a file that grows and can be resumed, and who writes."""

from core.generating.contexts import Context, Task, chunks, context_digest, tasks
from core.generating.growing import GrowingFile
from core.generating.writers import Writer, Written

__all__ = ["Context", "GrowingFile", "Task", "Writer", "Written", "chunks", "context_digest", "tasks"]
