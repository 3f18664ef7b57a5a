"""Train demo-en, the small English word-piece model that associations are measured with out of the box.

`python -m training.demo_en [--books PATH] [--out core/data/models/demo-en]`
"""

from pathlib import Path

from evenhand.core.errors import BadFile
from training import en_corpus, run, zh_corpus
from training.masked_run import MaskedText, Plan
from training.zh_corpus import POSITIONS


class Text(MaskedText):
    """Novels."""

    def __init__(self, books: Path, folder: Path, size: int = en_corpus.SIZE) -> None:
        train_on, held = en_corpus.read_books(books)
        if not train_on or not held:
            raise BadFile("{file} holds too little text: nothing of it is held out.", file=books.name)
        super().__init__(en_corpus.wordpieces(train_on, folder, POSITIONS, size), train_on, (), "demo_en_card.md")
        paragraphs = zh_corpus.encode(self.tokenizer, held)
        windows = [window for ids in paragraphs for window in zh_corpus.windows(ids, POSITIONS - 2)]
        self.held = {"books": windows[:600]}


main = run.command(Plan, Text, "demo-en", books=en_corpus.BOOKS)

if __name__ == "__main__":
    main()
