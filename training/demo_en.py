"""Train demo-en, the small English word-piece model that associations are measured with out of the box.

`python -m training.demo_en [--books PATH] [--out core/data/models/demo-en]`
"""

from pathlib import Path

from evenhand.core.errors import BadFile
from training import corpora, run
from training.corpora import POSITIONS
from training.masked_run import MaskedText, Plan


class Text(MaskedText):
    """Novels."""

    def __init__(self, books: Path, folder: Path, size: int = corpora.SIZE) -> None:
        train_on, held = corpora.read_books(books)
        if not train_on or not held:
            raise BadFile("{file} holds too little text: nothing of it is held out.", file=books.name)
        super().__init__(corpora.wordpieces(train_on, folder, POSITIONS, size), train_on, (), "demo_en_card.md")
        paragraphs = corpora.encode(self.tokenizer, held)
        windows = [window for ids in paragraphs for window in corpora.windows(ids, POSITIONS - 2)]
        self.held = {"books": windows[:600]}


main = run.command(Plan, Text, "demo-en", books=corpora.BOOKS)

if __name__ == "__main__":
    main()
