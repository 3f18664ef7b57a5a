"""`agreement`, `annotator-models`, `preferences`, `groupings`, `group-differences`: how far annotators agree."""

from collections.abc import Iterator

import click

from evenhand.annotations.agreement.annotator_models import (
    AnnotatorModels,
    ModelledAnnotator,
    ModelledItem,
    annotator_models,
)
from evenhand.annotations.agreement.disagreements import finished_items
from evenhand.annotations.agreement.groups import GroupDifferences, group_differences
from evenhand.annotations.agreement.measures import AgreementReport
from evenhand.annotations.agreement.measures import agreement as report_of
from evenhand.annotations.agreement.merged_labels import Way, mark_agreement, ways_of
from evenhand.annotations.agreement.preferences import GROUPS, LeftChosen, ModelPreferences, left_chosen, preferences
from evenhand.annotations.agreement.report import DisplayRates
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import compares
from evenhand.annotations.items.provenance import only_files
from evenhand.annotations.judges.judges import judge as find_judge
from evenhand.annotations.labels.blind_labels import ItemScope
from evenhand.annotations.projects import consent as records
from evenhand.annotations.projects.projects import annotator
from evenhand.annotations.quantities.agreement import measures_stated
from evenhand.annotations.quantities.catalogue import QUANTITIES
from evenhand.annotations.quantities.quantity import quantities_json
from evenhand.annotations.types import Project
from evenhand.commands.permissions import guarded
from evenhand.commands.shared import answer, margin_option, opened_project, option, say_unsettled, table, wants_json
from evenhand.core.errors import N_, Refused
from evenhand.core.language import p_value
from evenhand.core.statistics import RESAMPLES, Estimate, Resampling
from evenhand.core.statistics.bradley_terry import Preferences
from evenhand.core.statistics.equivalence import MARGINS, difference_json, equivalence
from evenhand.core.typed_json import to_json
from evenhand.core.types import JsonObject

STOPPED = "Items stop at a first reject: on all labelled items these numbers are biased; take --on share."
SHARED = "Items stop at a first reject: computed on the random share that everybody labels."
ENDED = "Under an earlier plan a first reject ended items, and {ended} of these still lack labels: "
ENDED_ALL = "on all labelled items these numbers are biased towards acceptance; take --on share."
ENDED_SHARE = "computed on the random share that everybody labels."
EVERY_VERSION = "Labels made under every version of the guideline."
ALIKE = "items of one resemble each other. What they hold: docs/coverage.md."
NO_FORMS = "Generations are shown in one form only."


def on_reason(report: AgreementReport) -> str:
    """Return why a report is on the random share, or what is wrong with it outside."""
    if report.ended:
        return ENDED.format(ended=report.ended) + (ENDED_ALL if report.biased else ENDED_SHARE)
    return STOPPED if report.biased else SHARED


def report_json(report: AgreementReport, margin: float | None = MARGINS["share"]) -> JsonObject:
    """Return the report as one JSON object; `percent` is the share of items on which all annotators agreed.

    *margin*: the largest difference of accept rates of two forms that counts as none, 0 to 1.
    """
    ended = {"ended_at_reject": report.ended, "imported_ended_at_reject": report.imported_ended}
    return {
        "project": report.project,
        **({"quantities": quantities_json(measures_stated(report))} if report.version is None else {}),
        **to_json(report.overall),
        "all_items": report.all_items,
        "items_by_labels": to_json(report.by_labels),
        "annotators": list(report.annotators),
        "categories": to_json(report.categories),
        "cohen_kappa": to_json(report.cohen),
        "by_pair": [{"pair": name, **to_json(measures)} for name, measures in report.by_pair],
        "on": report.on,
        **({"on_reason": on_reason(report), **ended} if report.stopped else {}),
        "version": report.version,
        **({"version_reason": EVERY_VERSION} if report.version is None else {}),
        "by_version": [{"version": version, **to_json(measures)} for version, measures in report.by_version],
        **_by_form(report.by_form, margin),
        "signature": report.signature,
    }


def _by_form(rates: DisplayRates | None, margin: float | None) -> JsonObject:
    def of(rates: DisplayRates) -> JsonObject:
        return {"forms": to_json(rates.forms), "difference": difference_json(rates.difference, margin)}

    if rates is None:
        return {"by_form": None, "by_form_reason": NO_FORMS}
    paired = {"difference_same_items": difference_json(rates.paired, margin)}
    return {
        "by_form": of(rates)
        | paired
        | {"annotators": [{"annotator": name, **of(own)} for name, own in rates.annotators]}
    }


def by_ways(
    store: Store, project: Project, resampling: Resampling, version: int | None = None, on: ItemScope | None = None
) -> JsonObject:
    """Return what `agreement --json` adds of generations: labels in four ways, marks, models x pronouns."""
    ways = {}
    for way in ways_of(store, project):
        report = report_of(store, project, resampling=resampling, way=way, version=version, on=on)
        left_out = ("project", "quantities", "by_pair")
        data = {key: value for key, value in report_json(report).items() if key not in left_out}
        cells = [{"model": model, "pronoun": pronoun, **to_json(measures)} for model, pronoun, measures in report.cells]
        ways[way] = data | {"by_model_and_pronoun": cells}
    marks = {marks.kind: to_json(marks) for marks in mark_agreement(store, project, resampling)}
    left = {"left_chosen": _left(left_chosen(store, project))} if compares(store, project) else {}
    return {"ways": ways, "marks": marks} | left


def _left(left: LeftChosen) -> JsonObject:
    """Return how often the left text of a comparison was chosen."""
    people = [{"annotator": name, **share.to_json()} for name, share in left.by_annotator]
    return {**left.share.to_json(), "annotators": people, "ties": left.ties, "unknown": left.unknown}


def for_people(report: AgreementReport, margin: float | None = MARGINS["share"]) -> Iterator[str]:
    """Yield the report for people: one line a measure, 95% intervals."""
    overall, units = report.overall, "contexts" if "unit:context" in report.signature else "source articles"
    yield f"{report.project}: {report.items} of {report.all_items} items with {report.labels} blind labels"
    if report.stopped:
        yield on_reason(report)
    if overall.pairwise.clusters:
        yield f"Intervals over {overall.pairwise.clusters} {units}: {ALIKE}"
    for measures in _measures(report):
        yield table([(name, measure, f"n = {measure.units} {items}".rstrip()) for name, measure, items in measures])
    if report.by_form is not None and report.by_form.compared:
        apart = {"masked - original": report.by_form.difference, "  on the same items": report.by_form.paired}
        yield table([(f"accepted, {rate.form}", rate.rate) for rate in report.by_form.forms])
        for name, difference in apart.items():
            yield table([(name, difference)])
            if difference.value is not None:
                yield f"    {equivalence(difference, margin).text}"
    yield report.signature


def _measures(report: AgreementReport) -> Iterator[list[tuple[str, Estimate, str]]]:
    """Yield each group of measures: the name of a measure, its value, and which items it is of."""
    yield list(_overall(report))
    yield [(f"kappa {two.a} & {two.b}", two.kappa, "that both labelled") for two in report.cohen]
    yield [
        row
        for share in report.categories
        for row in ((f"share of {share.choice.code}", share.prevalence, ""), ("  chosen by both", share.specific, ""))
    ]
    yield [(f"alpha {name or '(no pair)'}", measures.alpha, "") for name, measures in report.by_pair]
    if len(report.by_version) > 1:
        yield [(f"alpha, version {version}", measures.alpha, "") for version, measures in report.by_version]


def _overall(report: AgreementReport) -> Iterator[tuple[str, Estimate, str]]:
    for id_, estimate in measures_stated(report).items():
        yield QUANTITIES[id_].name, estimate, f"({QUANTITIES[id_].population_words()})"


@click.command("agreement")
@click.argument("project")
@option("--resamples", type=click.IntRange(100, 100_000), default=RESAMPLES, help="Draws per interval.")
@option("--seed", type=click.IntRange(0), default=0, help="Start of the random draws.")
@option("--version", type=click.IntRange(1), help="Only labels made under this version of the guideline.")
@option(
    "--on",
    type=click.Choice(["all", "share"]),
    help="All labelled items, or the random share that all annotators label; default: the share where items stop at a "
    "first reject.",
)
@margin_option("share", of="difference of the accept rates of two forms")
@guarded("see_names", "project")
def agreement(
    project: str, resamples: int, seed: int, version: int | None, on: ItemScope | None, margin: float, db: str,
) -> None:  # fmt: skip
    """Measure how far the annotators of PROJECT agree, with 95% intervals over items.

    The measures use blind labels on all labelled items. `percent` is the share of items with at least two blind labels
    on which all annotators agreed. Generations are compared by their four labels, with intervals over contexts; --json
    adds `ways`: the same on three labels (plural they counts as no pronoun), on two (misgendering or not) and on the
    flag for extraneous gendered language (with an own scheme: its choices and each of its flags), and `marks`: how far
    the same characters were marked (F1). `by_version`: the measures under each version of the guideline; `by_form`:
    accept rates of sentences shown in the original and the masked form.
    """
    resampling = Resampling(resamples, seed)
    with opened_project(db, project) as (store, stored_project), store.read():
        say_unsettled(store, stored_project)
        report = report_of(store, stored_project, resampling=resampling, version=version, on=on)
        more = (
            by_ways(store, stored_project, resampling, version, on)
            if wants_json() and stored_project.kind == "generations"
            else {}
        )
        files = only_files(store, stored_project)
    text = [*for_people(report, margin), *([files.text] if files else [])]
    answer(report_json(report, margin) | more, text)


NOT_SETTLED = "A model did not converge; its estimates are provisional."


@click.command("annotator-models")
@click.argument("project")
@option("--version", type=click.IntRange(1), help="Only labels made under this version of the guideline.")
@option("--on", type=click.Choice(["all", "share"]), help="All labelled items, or the random share; as in "
                                                                "`agreement`.")  # fmt: skip
@option("--by", "way", default="four", help="Generations: which labels, as in `ways` of `agreement --json`.")
@guarded("see_all_labels", "project")
def models(project: str, version: int | None, on: ItemScope | None, way: Way, db: str) -> None:
    """Compare Dawid-Skene and MACE with the vote, on the items of PROJECT with five blind labels or more.

    Both models estimate how reliable annotators are and which choice is probably right; they never decide a gold label.
    --json lists the fully labelled items on which a model differs from the vote, or the vote ties.
    """
    with opened_project(db, project) as (store, stored_project), store.read():
        say_unsettled(store, stored_project)
        if way not in (ways := ways_of(store, stored_project)):
            message = N_("{project} has no labels to compare by {way}. Choose one of: {ways}.")
            raise Refused(message, project=stored_project.name, way=way, ways=", ".join(ways))
        made = annotator_models(store, stored_project, way=way, version=version, on=on)
        differ = [item for item in made.items if item.differs]
        readable = finished_items(store, stored_project, [modelled_item.row for modelled_item in differ])
        listed = [modelled_item for modelled_item in differ if modelled_item.row in readable]
        names = [readable[modelled_item.row] for modelled_item in listed]
    data = {
        "project": stored_project.name,
        "items": len(made.items),
        "labels": made.labels,
        "items_with_fewer_labels": made.fewer,
        **({"reason": str(made.reason)} if made.reason else {}),
        "settled": made.settled,
        "choices": [choice.code for choice in made.choices],
        "against_vote": {name: made.against_vote(name) for name in ("dawid_skene", "mace")},
        "tied_votes": made.tied,
        "annotators": [_annotator(modelled_annotator, made) for modelled_annotator in made.annotators],
        "differ": [_item(name, modelled_item, made) for name, modelled_item in zip(names, listed, strict=True)],
        "signature": made.signature,
    }
    answer(data, _models_text(stored_project.name, made))


def _annotator(modelled_annotator: ModelledAnnotator, made: AnnotatorModels) -> JsonObject:
    codes = [choice.code for choice in made.choices]
    errors = {
        code: None if line is None else dict(zip(codes, line, strict=True))
        for code, line in zip(codes, modelled_annotator.errors, strict=True)
    }
    return {
        "annotator": modelled_annotator.name,
        "labels": modelled_annotator.labels,
        "right": modelled_annotator.right,
        "competence": modelled_annotator.competence,
        "errors": errors,
    }


def _item(name: str, modelled_item: ModelledItem, made: AnnotatorModels) -> JsonObject:
    def code(place: int | None) -> str | None:
        return None if place is None else made.choices[place].code

    return {
        "item": name,
        "votes": {choice.code: n for choice, n in zip(made.choices, modelled_item.votes, strict=True)},
        "vote": code(modelled_item.vote),
        "dawid_skene": code(modelled_item.dawid_skene),
        "dawid_skene_probability": modelled_item.dawid_skene_probability,
        "mace": code(modelled_item.mace),
        "mace_probability": modelled_item.mace_probability,
    }


def _models_text(name: str, made: AnnotatorModels) -> Iterator[str]:
    yield f"{name}: {len(made.items)} items with five labels or more, {made.fewer} with fewer are left out"
    if made.reason is not None:
        yield str(made.reason)
    else:
        yield "" if made.settled else NOT_SETTLED
        skill, habit = made.against_vote("dawid_skene"), made.against_vote("mace")
        yield f"differs from the vote: Dawid-Skene {skill}, MACE {habit}; tied votes: {made.tied}"
        rows = [
            (annotator.name, annotator.labels, annotator.right, annotator.competence) for annotator in made.annotators
        ]
        yield table(rows, ("annotator", "labels", "right", "competence"))
    yield made.signature


@click.command("preferences")
@click.argument("project")
@option("--judge", help="The name of a judge of PROJECT, instead of people.")
@option("--by", type=click.Choice(GROUPS), help="Also rank within each data set, pronoun set or setting.")
@option("--without", multiple=True, metavar="MODEL", help="Leave this model out; may be repeated.")
@guarded("see_all_labels", "project")
def model_preferences(project: str, judge: str | None, by: str | None, without: tuple[str, ...], db: str) -> None:
    """Rank models by preference, from the comparisons of two texts in PROJECT.

    Prints Bradley–Terry strengths (natural logarithms that sum to 0) with Davidson ties and 95% intervals over
    contexts, with five annotators or more also over annotators; the range of ranks that the differences allow; how
    often the left text is preferred; whether one strength per model is enough.
    """
    with opened_project(db, project) as (store, stored_project), store.read():
        say_unsettled(store, stored_project)
        number = None if judge is None else find_judge(store, stored_project, judge).id
        made = preferences(store, stored_project, judge=number, by=by, without=without)
    data = {
        "project": stored_project.name, "labels_of": judge or "people", "items": made.items, "labels": made.labels,
        "annotators": made.annotators, "contexts": made.contexts, "left_out": made.left_out,
        **_as_json(made.found), "counts": _counts(made),
        **({by: {value: _as_json(group) for value, group in made.groups.items()}} if by else {}),
    }  # fmt: skip
    left = f"left out, without two models that have different names: {made.left_out}" if made.left_out else ""
    lines = [f"{made.labels} labels on {made.items} comparisons in {made.contexts} contexts", left]
    lines += _in_words(made.found)
    for value, group in made.groups.items():
        lines += [f"{by}: {value or '-'}", *_in_words(group)]
    answer(data, lines)


def _counts(made: ModelPreferences) -> list[JsonObject]:
    return [
        {"model": name, "compared": compared, "preferred": preferred, "tied": tied}
        for name, (compared, preferred, tied) in zip(made.comparisons.models, made.counts, strict=True)
    ]


def _as_json(strengths: Preferences) -> JsonObject:
    names = strengths.models
    return {
        **({"reason": str(strengths.reason)} if strengths.reason else {}),
        "models": [
            {"model": name, "strength": strength.to_json(), "best_rank": ranks[0], "worst_rank": ranks[1]}
            for name, strength, ranks in zip(names, strengths.strengths, strengths.ranks, strict=True)
        ],
        "differences": [
            {"one": names[difference.one], "other": names[difference.other],
            "difference": difference.estimate.to_json(),
             "preferred": difference.chance.to_json(), "holm": difference.stays}
            for difference in strengths.differences
        ],
        "tie": strengths.tie.to_json(), "left": strengths.left.to_json(),
        "fit": to_json(strengths.fit),
        "signature": strengths.signature,
    }  # fmt: skip


def _in_words(strengths: Preferences) -> Iterator[str]:
    if strengths.reason is not None:
        yield str(strengths.reason)
    else:
        ranked = zip(strengths.models, strengths.strengths, strengths.ranks, strict=True)
        rows = sorted(ranked, key=lambda row: -(row[1].value or 0))
        yield table(
            [(name, one, f"place {best}" + f" to {worst}" * (worst > best)) for name, one, (best, worst) in rows]
        )
        pairs = [
            (
                f"{strengths.models[pair.one]} preferred to {strengths.models[pair.other]}",
                pair.chance,
                "*" if pair.stays else "",
            )
            for pair in strengths.differences
        ]
        yield table(
            [*pairs, ("equal models tie", strengths.tie, ""), ("the left of two equal models", strengths.left, "")]
        )
        fit = strengths.fit
        yield f"circles: p {p_value(fit.p)}" if fit.p is not None else f"circles: -  ({fit.reason})"
    yield strengths.signature


ABOUT = "Candidates for a difference of opinion, not mistakes."


@click.command("groupings")
@click.argument("project")
@option("--add", metavar="NAME", help="A new grouping, as dialect; with --group for each group.")
@option("--group", "options", multiple=True, help="A group of the new grouping; at least two.")
@option("--by", help="The grouping in which --put puts people.")
@option("--put", multiple=True, metavar="NAME=GROUP", help="An annotator and the group; NAME= removes it.")
@guarded("change_projects", "project")
def groupings(
    project: str, add: str | None, options: tuple[str, ...], by: str | None, put: tuple[str, ...], db: str,
) -> None:  # fmt: skip
    """Show how the annotators of PROJECT are grouped, as by dialect or first language, and the size of each group.

    --put cannot change a group that an annotator has chosen on the page My record.
    """
    if (by is None) != (not put) or (add is None) != (not options):
        raise Refused(N_("Give --add together with --group, and --by together with --put."))
    with opened_project(db, project) as (store, stored_project):
        if add is not None:
            records.add_grouping(store, stored_project, add, options)
        for text in put:
            name, _, value = text.rpartition("=")
            of = records.grouping(store, stored_project, by or "")
            records.set_group(store, stored_project, of, annotator(store, stored_project, name), value or None, "lead")
        data = []
        for of in records.groupings(store, stored_project):
            inside = list(records.groups_of(store, of).values())
            data.append({"grouping": of.name, "groups": {option: inside.count(option) for option in of.options}})
    lines = [f"{entry['grouping']}: {', '.join(f'{k} {n}' for k, n in entry['groups'].items())}" for entry in data]  # type: ignore[attr-defined]
    answer({"groupings": data}, "\n".join(lines) or "The annotators are not grouped.")


@click.command("group-differences")
@click.argument("project")
@click.argument("grouping")
@option("--groups", nargs=2, help="The two groups; default: those with most people.")
@option("--version", type=click.IntRange(1), help="Only labels made under this version of the guideline.")
@option("--on", type=click.Choice(["all", "share"]), help="As in `agreement`.")
@guarded("see_all_labels", "project")
def differences(
    project: str, grouping: str, groups: tuple[str, str] | None, version: int | None, on: ItemScope | None, db: str,
) -> None:  # fmt: skip
    """Test whether two groups of GROUPING choose differently, with intervals over annotators and items.

    Groups need at least five people who labelled. Items on which they differ suggest a difference of opinion, not
    mistakes; --json lists those that are fully labelled, the most certain first.
    """
    with opened_project(db, project) as (store, stored_project), store.read():
        made = group_differences(
            store, stored_project, records.grouping(store, stored_project, grouping), groups, version=version, on=on
        )
        readable = finished_items(store, stored_project, [item.row for item in made.items])
        listed = [item for item in made.items if item.row in readable]
        names = [readable[opinion_item.row] for opinion_item in listed]
    data = {
        "project": stored_project.name,
        "grouping": made.grouping.name,
        "groups": to_json(made.groups),
        "too_small": made.small,
        "compared": made.pair,
        **({"reason": str(made.reason)} if made.reason else {}),
        "choices": to_json(made.choices),
        "differing": made.differing,
        "items": [{"item": name, **to_json(item)} for name, item in zip(names, listed, strict=True)],
        "signature": made.signature,
    }
    answer(data, _differences_text(made))


def _differences_text(made: GroupDifferences) -> Iterator[str]:
    yield from (f"{group.name}: {group.people} people, {group.labels} labels" for group in made.groups)
    if made.small:
        yield f"groups that are too small to be shown: {made.small}"
    if made.reason is not None or made.pair is None:
        yield str(made.reason)
    else:
        yield f"{made.pair[0]} - {made.pair[1]}:"
        rows = [(row.choice.code, row.first, row.second, (row.difference, "+.3f")) for row in made.choices]
        yield table(rows, indent="  ")
        yield f"{made.differing} of {len(made.items)} items differ beyond chance. {ABOUT}"
    yield made.signature
