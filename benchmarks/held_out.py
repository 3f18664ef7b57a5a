"""Masked accuracy of demo-zh, random-zh or another model on the text held out: `python -m benchmarks.held_out [MODEL]`.

The same paragraphs and sentences, the same masks, as the model card reports;
the stored (16-bit) weights are measured, computed in 32 bit. Beside it, what
always guessing the most frequent token of that text would get.
"""

import sys
from collections import Counter

import torch

from evenhand.core.models.loading import load_masked
from training import masking, zh_corpus


def main() -> None:
    """Print right / all and the share, per text and pooled."""
    torch.set_num_threads(1)
    loaded = load_masked(sys.argv[1] if len(sys.argv) > 1 else "demo-zh")
    layout = masking.Layout(loaded.tokenizer)
    _, wiki = zh_corpus.split(zh_corpus.read_wiki(zh_corpus.WIKI))
    _, sentences = zh_corpus.split(zh_corpus.read_sentences(zh_corpus.SENTENCES))
    windows = [w for ids in zh_corpus.encode(loaded.tokenizer, wiki) for w in zh_corpus.windows(ids, 126)]
    texts = {"wiki": windows, "sentences": zh_corpus.encode(loaded.tokenizer, sentences)}
    right = total = 0
    for name, pieces in texts.items():
        hits, tokens = masking.accuracy(loaded.model, pieces, layout)
        counts = Counter(token for piece in pieces for token in piece)
        base = counts.most_common(1)[0][1] / counts.total()
        print(f"{name}: {hits} of {tokens} = {hits / tokens:.1%} (most frequent token: {base:.1%})")
        right, total = right + hits, total + tokens
    print(f"pooled: {right} of {total} = {right / total:.1%}")


if __name__ == "__main__":
    main()
