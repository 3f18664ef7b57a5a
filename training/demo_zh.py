"""Train demo-zh, the small Chinese character model that makes live probabilities work out of the box.

`python -m training.demo_zh [--wiki PATH] [--sentences PATH] [--out core/data/models/demo-zh]`
"""

from pathlib import Path

from evenhand.core.errors import BadFile
from training import corpora, run
from training.masked_run import MaskedText, Plan


class Text(MaskedText):
    """An encyclopedia and released sentences."""

    def __init__(self, wiki: Path, sentences: Path, folder: Path) -> None:
        wiki_train, wiki_held = corpora.split(corpora.read_wiki(wiki))
        train, held = corpora.split(corpora.read_sentences(sentences))
        tokenizer = corpora.make_tokenizer(corpora.vocabulary(wiki_train + train), folder)
        super().__init__(tokenizer, wiki_train, train, "demo_zh_card.md")
        wiki_ids, sentences_held = (corpora.encode(tokenizer, part) for part in (wiki_held, held))
        windows = [window for ids in wiki_ids for window in corpora.windows(ids, 126)]
        self.held = {"wiki": windows, "sentences": sentences_held}
        if not all(self.held.values()):
            raise BadFile("{wiki} and {sentences} hold too little text: nothing of one is held out.",
                          wiki=wiki.name, sentences=sentences.name)  # fmt: skip


main = run.command(Plan, Text, "demo-zh", wiki=corpora.WIKI, sentences=corpora.SENTENCES)

if __name__ == "__main__":
    main()
