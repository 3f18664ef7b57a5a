"""A whole curation at full size: pilot of 100, 300 sentences, three annotators in Chromium, one replaced, two releases.

`python -m benchmarks.curation --file SlguSet.csv`: the first 300 rows, then 30 more before the second release. Checks
all that tests/browser/test_whole_curation.py checks, and prints what it took.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.support.browser import FLAGS, Server, chromium_path
from tests.support.curation_in_browser import Sizes, rehearse
from tests.support.desk_driver import Opener


def main() -> None:
    """Rehearse and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, required=True, help="a file in the released layout")
    parser.add_argument("--items", type=int, default=300)
    parser.add_argument("--more", type=int, default=30)
    parser.add_argument("--pilot", type=int, default=100)
    asked = parser.parse_args()
    head, *rows = asked.file.read_text(encoding="utf-8").splitlines(keepends=True)
    step = max(1, len(rows) // (asked.items + asked.more))
    chosen = rows[::step][: asked.items + asked.more]
    sizes = Sizes(asked.pilot, before=asked.items // 2, share=10, retest=2, decisions=3)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        first, more = folder / "first.csv", folder / "more.csv"
        first.write_text(head + "".join(chosen[: asked.items]), encoding="utf-8")
        more.write_text(head + "".join(chosen[asked.items :]), encoding="utf-8")
        server = Server(folder / "curation.db").start()
        browser = playwright.chromium.launch(executable_path=chromium_path(playwright), args=FLAGS)
        desks = Opener(browser, server)
        begun = time.monotonic()
        try:
            found = rehearse(desks, server, folder, first, more, format="slguset", sizes=sizes)
        finally:
            desks.close()
            browser.close()
            server.stop()
        found["seconds"] = round(time.monotonic() - begun)
        found["labels_if_all_label"] = 3 * found["items"]
    print(json.dumps(found, ensure_ascii=False, indent=2))


if __name__ == "__main__":
    main()
