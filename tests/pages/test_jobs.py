"""The page Jobs without jobs: it names the page that starts each kind, and every kind has one."""

from evenhand.annotations.jobs.kinds import KINDS
from evenhand.pages.catalogue import page_in
from evenhand.pages.jobs.starts import STARTS
from tests.support.pages import open_page, without_errors


def test_every_kind_of_job_has_a_page_that_starts_it() -> None:
    kinds = [kind for _folder, _work, kinds in STARTS for kind in kinds]
    assert sorted(kinds) == sorted(KINDS)


def test_a_page_without_jobs_leads_to_every_page_that_starts_one() -> None:
    page = without_errors(open_page("jobs"))
    assert [link.proto.page for link in page.main.get("page_link")] == [page_in(row[0]).address for row in STARTS]
