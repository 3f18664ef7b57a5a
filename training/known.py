"""Make `known`, a BERT whose answers are known by hand: `python -m training.known [--out FOLDER]`.

All weights are zero except the output bias, which is the logarithm of the
chosen probabilities. So in every sentence the probability of a token at a mask
is the number in this file. The model gives the ruler's zero and marks.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import torch
from transformers import BertConfig, BertForMaskedLM

from evenhand.core.resources import MODELS
from training import corpora

# Per ten thousand. 他 : 她 = 2 (log10 0.3010), 男 = 女 (0), 公 : 婆 = 10 (1), 弟 : 妹 = 1/10 (-1).
MARKS = {
    "他": 2000, "她": 1000, "男": 500, "女": 500, "爸": 200, "妈": 100, "父": 100, "母": 200, "儿": 100, "子": 200,
    "叔": 50, "阿": 50, "姨": 50, "哥": 100, "姐": 50, "弟": 10, "妹": 100, "爷": 50, "奶": 50, "姥": 50,
    "公": 100, "婆": 10, "丈": 50, "夫": 50, "妻": 50, "它": 200, "祂": 10, "妳": 20,
}  # fmt: skip
EVERYDAY = Fraction(1, 1000)  # each character of EVERYDAY_CHARACTERS
SPECIAL_EACH = Fraction(1, 100_000)
REST = "的"  # takes what is left of 1
EVERYDAY_CHARACTERS = (
    "一二三四五六七八九十百千万是不了在人有我你们这那个上下来去到大小中时说要就会着没看好自己起还过后多年天里"
    "想知道能做事把生工作活家友同学校老师医院护士教授司机警察经理总记者员长孩亲外出入回开心爱情快乐高兴美丽漂亮"
    "温柔聪明努力认真勇敢坚强年轻喜欢热请问题和与或但因为所以也都很太更最每从对给被让"
)
MARKED_SIGNS = "，。？！：；、“”《》（）"


def probabilities() -> dict[str, Fraction]:
    """Token -> probability; the values add up to exactly 1."""
    table = dict.fromkeys(corpora.SPECIAL, SPECIAL_EACH)
    table |= {token: Fraction(share, 10_000) for token, share in MARKS.items()}
    table |= {token: EVERYDAY for token in dict.fromkeys(EVERYDAY_CHARACTERS + MARKED_SIGNS) if token not in table}
    return table | {REST: 1 - sum(table.values(), Fraction())}


def build(table: dict[str, Fraction]) -> Any:
    """The smallest BERT that answers every mask with *table*."""
    config = BertConfig(
        vocab_size=len(table), hidden_size=2, num_hidden_layers=1, num_attention_heads=1, intermediate_size=2,
        max_position_embeddings=512, type_vocab_size=1, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    model: Any = BertForMaskedLM(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        logs = torch.tensor([float(p) for p in table.values()], dtype=torch.float64).log()
        model.cls.predictions.bias.copy_(logs)
    return model.eval()


def card(table: dict[str, Fraction]) -> str:
    """The model card: the whole table of answers."""
    groups: dict[Fraction, list[str]] = {}
    for token, p in table.items():
        groups.setdefault(p, []).append(f"`{token}`" if token in corpora.SPECIAL else token)
    rows = [f"| {float(p):.10g} | {' '.join(groups[p])} |" for p in sorted(groups, reverse=True)]
    return CARD.format(rows="\n".join(rows), tokens=len(table))


CARD = (Path(__file__).parent / "known_card.md").read_text(encoding="utf-8")


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=MODELS / "known")
def main(out: Path) -> None:
    """Make the model whose answers are known by hand."""
    table = probabilities()
    corpora.make_tokenizer(list(table), out, longest=512)
    build(table).save_pretrained(out)
    (out / "README.md").write_text(card(table), encoding="utf-8")
    click.echo(f"{out}: {sum(file.stat().st_size for file in out.iterdir()):,} bytes")


if __name__ == "__main__":
    main()
