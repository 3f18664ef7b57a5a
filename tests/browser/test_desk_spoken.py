"""Each state of the desk as a screen reader speaks it, compared with a transcript in `spoken/`.

`pytest tests/browser/test_desk_spoken.py --write-spoken` writes the transcripts again; read the difference before it is
committed. A transcript has, of each state, what was done, what the live regions say, then what has come up (+) and what
has gone (-) on the desk; of the first state everything, in the order of reading. `[zh]`: spoken as Chinese.
"""

import re
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.desk_driver import WAIT_MS, Desk, Opener, make_generations, make_project
from tests.support.screen_reader import ScreenReader

pytestmark = pytest.mark.browser

FOLDER = Path(__file__).parent / "spoken"


class Transcript:
    """Writes down what is spoken after each act at a desk."""

    def __init__(self, desk: Desk, language: str) -> None:
        self.desk, self.reader = desk, ScreenReader(desk.page, language)
        self.lines: list[str] = []
        self.before: list[str] = []
        self.told: list[str] = []

    def state(self, name: str, *keys: str) -> None:
        """Press keys and write down what a screen reader says then."""
        self.desk.press(*keys)
        self.heard(name, " ".join(keys))

    def heard(self, name: str, done: str = "") -> None:
        """Write down what a screen reader says now."""
        told, lines = self.reader.read()
        for _try in range(20):  # answers of the server and the next drawing
            self.desk.page.wait_for_timeout(150)
            again = self.reader.read()
            if again == (told, lines):
                break
            told, lines = again
        self.lines += ["", f"## {name}{f' ({done})' if done else ''}", ""]
        self.lines += [f'says: "{text}"' for text in told if text not in self.told]
        if self.before:
            here, there = Counter(lines), Counter(self.before)
            self.lines += [f"- {line.strip()}" for line in _missing(self.before, here)]
            self.lines += [f"+ {line.strip()}" for line in _missing(lines, there)]
        else:
            self.lines += lines
        self.before, self.told = lines, told

    def compare(self, name: str, *, write: bool) -> None:
        """Compare with the transcript of that name, or write it."""
        file = FOLDER / f"{name}.md"
        text = re.sub(r"desk \d+", "desk 1", "\n".join([f"# {name}", *self.lines]) + "\n")
        if write:
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8")


def _missing(lines: list[str], others: Counter[str]) -> list[str]:
    """Return the lines that are not among the others, each as often as it is more often."""
    left = others.copy()
    made = []
    for line in lines:
        if left[line]:
            left[line] -= 1
        else:
            made.append(line)
    return made


def offline(desk: Desk, spoken: Transcript, *keys: str) -> None:
    desk.cut()
    desk.press(*keys)
    expect(desk.notice("away")).to_be_visible(timeout=WAIT_MS)
    spoken.heard("The server is away", " ".join(keys))
    desk.mend()
    expect(desk.notice("away")).to_be_hidden(timeout=WAIT_MS)
    desk.settle()
    spoken.heard("The server is back")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_sentences_are_spoken_as_in_the_transcript(desks: Opener, language: str, pytestconfig: pytest.Config) -> None:
    desk = desks(make_project(desks.server, 6), context=desks.fresh()).open(lang=language)
    spoken = Transcript(desk, language)
    spoken.state("The first sentence")
    spoken.desk.page.keyboard.down("s")
    spoken.heard("Both words, while S is held", "s")
    spoken.desk.page.keyboard.up("s")
    spoken.state("Why is it rejected?", "k")
    spoken.state("A reason is chosen", "1")
    spoken.state("And withdrawn", "1")
    spoken.state("Back", "Escape")
    spoken.state("A note", "n")
    desk.page.keyboard.type("Odd.")
    spoken.state("The note is kept", "Enter")
    spoken.state("Kept", "j")
    spoken.state("Rejected", "k", "2", "Enter")
    spoken.state("Undone", "u")
    spoken.state("Back to the sentence that was undone, and skipped", "x")
    spoken.state("An earlier decision", "h", "ArrowDown", "Enter")
    spoken.state("It stays", "Escape")
    spoken.state("The list of keys", "?")
    desk.part("help").locator('[data-act=rekey][data-code="J"]').focus()
    spoken.state("A key waits for another one", "Enter")
    spoken.state("A key that is in use", "x")
    spoken.state("The list is closed", "Escape")
    offline(desk, spoken, "j")
    for _ in range(4):
        if desk.item:
            desk.decide("j")
    desk.settle()
    spoken.heard("Finished", "j until the end")
    spoken.compare(f"sentences-{language}", write=pytestconfig.getoption("--write-spoken"))


def test_generations_are_spoken_as_in_the_transcript(desks: Opener, pytestconfig: pytest.Config) -> None:
    texts = [" Then he met a man and left.", " And xe went home.", " They left."]
    desk = desks(make_generations(desks.server, texts), context=desks.fresh()).open(lang="zh")
    spoken = Transcript(desk, "zh")
    spoken.state("The first text")
    spoken.state("Extraneous gendered language, and marking", "f")
    spoken.state("To a word", "x")
    spoken.state("Marked", "Enter")
    spoken.state("The mark is removed, and the flag with it", "Delete")
    spoken.state("Out of marking", "Escape")
    spoken.state("Misgendering, and a mark is missing", "2")
    spoken.state("Back", "Escape")
    spoken.state("Tags", "t")
    spoken.state("A tag is chosen", "5")
    spoken.state("Tags are closed", "Enter")
    spoken.state("A note", "n")
    spoken.state("Without a note", "Escape")
    spoken.state("The list of keys", "?")
    spoken.state("The list is closed", "Escape")
    spoken.state("Correct", "1")
    spoken.state("Undone", "u")
    spoken.state("Skipped", "x")
    offline(desk, spoken, "3")
    for _ in range(3):
        if desk.item:
            desk.decide("3")
    desk.settle()
    spoken.heard("Finished", "3 until the end")
    spoken.compare("generations-zh", write=pytestconfig.getoption("--write-spoken"))


def test_a_covered_text_is_spoken_when_it_is_opened(desks: Opener, pytestconfig: pytest.Config) -> None:
    desk = desks(make_generations(desks.server, [" Then he met a man."], blur=True)).open(lang="en")
    spoken = Transcript(desk, "en")
    spoken.state("A covered text")
    spoken.state("A label before it is opened", "1")
    spoken.state("Opened", "Space")
    spoken.compare("covered-en", write=pytestconfig.getoption("--write-spoken"))
