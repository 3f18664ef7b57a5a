"""The command `harness`: a released set as a task, and logs of samples as scores or generations."""
