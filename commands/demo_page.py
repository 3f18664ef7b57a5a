"""`demo-page OUT`: one HTML file with stored scores of chosen sentences, to pass on."""

from pathlib import Path

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import answer, json_option
from evenhand.core.demo_page.page import MODELS, answers_of, chosen_sentences, page_html
from evenhand.core.errors import N_, BadFile, NotAllowed
from evenhand.core.files.whole_file import whole_file
from evenhand.core.language import LANGUAGES, Language
from evenhand.core.resources import read_table
from evenhand.core.types import Scorer
from evenhand.core.worker import client


@click.command("demo-page")
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--sentences", type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="A TSV with the columns language, text and options (two words for [MASK], male first); else those built in.",
)  # fmt: skip
@click.option("--model", "models", multiple=True, help="Ask these models of every sentence, in this order.")
@click.option("--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Which it opens in.")
@json_option
@needs("measure")
def demo_page(out: Path, sentences: Path | None, models: tuple[str, ...], lang: Language, as_json: bool) -> None:
    """Write one HTML file with what models say of chosen sentences.

    It opens from a folder or a mail: no server, no script, nothing is
    fetched. Both languages, light and dark. The models are asked once, now.
    """
    if out.exists():
        raise NotAllowed(N_("{path} already exists. Choose another name."), path=str(out))
    chosen = chosen_sentences(None if sentences is None else read_table(sentences))
    scorers: dict[str, Scorer] = {}
    answered = []
    for one in chosen:
        names = models or MODELS.get(one.language, MODELS["en"])
        for name in names:
            scorers.setdefault(name, client.RemoteScorer(client.shared(), name))
        answered.append((one, answers_of(one, {name: scorers[name] for name in names})))
    failed = [each for _one, answers in answered for each in answers if each.reason is not None]
    if all(each.reading is None for _one, answers in answered for each in answers):
        raise BadFile(N_("No model could be run: {why}"), why=str(failed[0].reason))
    text = page_html(answered, language=lang)
    with whole_file(out) as write:
        write(text)
    for each in failed:
        click.echo(f"{each.model}: {each.reason}", err=True)
    data = {"out": str(out), "sentences": len(chosen), "models": list(scorers), "bytes": len(text.encode())}
    answer(data, f"{len(chosen)} sentences under {', '.join(scorers)} written to {out}", as_json=as_json)
