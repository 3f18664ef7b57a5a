"""Jobs: long work that goes on while pages are closed."""

from evenhand.pages.jobs.starts import show_starts
from evenhand.pages.ui.jobs import follow, jobs_of
from evenhand.pages.ui.visitor import open_store, page_head

page_head("Tasks that take a while, such as importing a large file, run here in the background.")
with open_store() as opened:
    if not jobs_of(opened):
        show_starts()
follow()
