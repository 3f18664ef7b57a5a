"""Online studies: for the lead. A study, its link, who is where, what the pay comes to, codes, withdrawals."""

from evenhand.annotations.study.studies import studies
from evenhand.pages.study.study import show_new, show_study
from evenhand.pages.ui.choose import choose, choose_project
from evenhand.pages.ui.text import _, inform, plain
from evenhand.pages.ui.visitor import open_store, page_head

page_head(
    "Participants from Prolific, Mechanical Turk or your own list go through consent form, test, desk and"
    " completion code. They need no account."
)
with open_store() as store:
    project = choose_project(store)
    if project is not None:
        found = {study.uid: study for study in studies(store, project)}
        if found:
            names = {uid: plain(study.name) for uid, study in found.items()}
            uid = choose(_("Study"), names, f"study-{project.uid}")
            show_study(store, found[uid])
        else:
            inform("This project has no studies yet.")
        show_new(store, project, open_at_first=not found)
