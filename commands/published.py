"""`check-paper`: recalculate the numbers of the papers from their other numbers."""

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import answer, json_option, option
from evenhand.core.published.claims import PrintedClaim
from evenhand.core.published.other_papers import checks
from evenhand.core.statistics.estimate import note_text
from evenhand.core.types import JsonObject

WORDS = {True: "consistent", False: "INCONSISTENT", None: "undecided"}


def claim_data(claim: PrintedClaim) -> JsonObject:
    """Return a claim for JSON; `follows` is null, with the reason, if the document does not decide it."""
    remark = note_text(claim.remark) or None
    data: JsonObject = {
        "key": claim.key,
        "document": claim.document,
        "place": note_text(claim.place),
        "printed": claim.printed,
        "recomputed": note_text(claim.recomputed),
        "follows": claim.follows,
        "remark": remark,
        "calculation": [note_text(line) for line in claim.calculation],
    }
    if claim.follows is None:
        data["follows_reason"] = remark or "The document leaves it open."
    if remark is None:
        data["remark_reason"] = "There is nothing to add."
    return data


@click.command("check-paper")
@option("--all", "everything", is_flag=True, help="Also print the consistent claims.")
@json_option
@needs("measure")
def check_paper(everything: bool) -> None:
    """Recalculate the numbers of the papers behind the measures, and list inconsistent ones.

    Every reported number may be off by half a unit of its last digit. The exit code is always 0.
    """
    printed_claims = checks()
    totals = {name: sum(claim.follows is verdict for claim in printed_claims) for verdict, name in WORDS.items()}
    counts = {"follows": totals[WORDS[True]], "does_not_follow": totals[WORDS[False]], "undecided": totals[WORDS[None]]}
    lines = []
    for document in dict.fromkeys(claim.document for claim in printed_claims):
        claims = [claim for claim in printed_claims if claim.document == document]
        follow = sum(claim.follows is True for claim in claims)
        lines.append(f"{document}: {follow} of {len(claims)} consistent")
        for claim in claims:
            if everything or claim.follows is not True:
                lines += _lines(claim)
    lines.append(", ".join(f"{name.lower()} {count}" for name, count in totals.items()))
    answer({"claims": [claim_data(claim) for claim in printed_claims], "counts": counts}, lines)


def _lines(claim: PrintedClaim) -> list[str]:
    numbers = f"reported {claim.printed}, recalculated {note_text(claim.recomputed)}"
    head = f"  {WORDS[claim.follows]:<15} {note_text(claim.place)}: {numbers}"
    steps = [f"    {note_text(line)}" for line in claim.calculation] if claim.follows is not True else []
    return [head, *([f"    {note_text(claim.remark)}"] if claim.remark else []), *steps]
