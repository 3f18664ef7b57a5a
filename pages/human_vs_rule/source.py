"""Which project the page Human vs. automatic rule shows, and its numbers, kept until something is added."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from evenhand.annotations.database.store import Store
from evenhand.annotations.human_vs_rule.people_by_instance import design_of
from evenhand.annotations.labels.generation_labels import generations, labels_of_generations
from evenhand.annotations.projects.annotators import pseudonyms
from evenhand.annotations.projects.projects import annotators
from evenhand.annotations.projects.steps import state
from evenhand.annotations.types import Project
from evenhand.core.human_vs_rule.apply_rule import CHOICES
from evenhand.core.human_vs_rule.compare import Cell, Difference, comparison, repetition
from evenhand.core.human_vs_rule.means_over_contexts import Mean, Weighted
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.prediction_powered import Rates
from evenhand.core.text.repetition import Repeated, Variant
from evenhand.pages.ui.choose import choose_project
from evenhand.pages.ui.text import _, inform
from evenhand.pages.ui.visitor import may, own_projects, page_link, remembered

VARIANTS: tuple[Variant, ...] = ("published", "completion")
WEIGHTED = ("agreement", *CHOICES, "extraneous")
BY = ("dataset", "model", "pronoun", "setting")


@dataclass(frozen=True, slots=True)
class PageNumbers:
    """Every number of the page. `cells`: by data set, model, pronoun set and setting; `groups`: without the setting."""

    generations: int
    finished: int
    labels: int
    overall: dict[str, Mean]
    rule_less_people: Estimate
    both: Rates
    kappa: Estimate
    confusion: dict[str, tuple[int, int]]
    cells: list[Cell]
    groups: list[Cell]
    differences: list[Difference]
    weighted: dict[str, Weighted]
    repetition: dict[Variant, dict[tuple[str, ...], Repeated]]
    signature: str
    sampled: bool = False  # whether samples decide which generations count in rates of all


def chosen_project(store: Store) -> Project | None:
    """A choice among the projects of generations; None, and what to do said, where there is none."""
    if not any(one.kind == "generations" for one in own_projects(store)):
        inform(
            "There is no project of generations yet. Import model output on the Projects page, then label it.",
            icon=":material/upload_file:",
        )
        page_link("projects/page.py", label=_("Projects"), icon=":material/folder_open:")
        return None
    return choose_project(store, "generations-project", kind="generations")


def current(store: Store, project: Project) -> PageNumbers:
    """The numbers of a project as they are now."""
    active = [person.uid for person in annotators(store, project)]
    found = remembered((*state(store), *active), _numbers, project)
    if may(store, "see_names", project):
        return found
    codes = pseudonyms(store, project)
    return replace(found, differences=[_coded(one, codes) for one in found.differences])


def _coded(one: Difference, codes: Mapping[str, str]) -> Difference:
    labels = tuple(replace(label, annotator=codes.get(label.annotator, "?")) for label in one.labels)
    return replace(one, labels=labels)


def _numbers(store: Store, project: Project) -> PageNumbers:
    items, labels = generations(store, project), labels_of_generations(store, project)
    design = design_of(store, project, items)
    made = comparison(items, labels, design=design)
    return PageNumbers(
        generations=len(items),
        finished=len(made.table),
        labels=len(made.labels),
        overall=made.overall,
        rule_less_people=made.rule_less_people,
        both=made.both,
        kappa=made.kappa,
        confusion=made.confusion,
        cells=made.cells(BY),
        groups=made.cells(BY[:3]),
        differences=made.differences,
        weighted={name: made.weighted(name) for name in WEIGHTED},
        repetition={variant: repetition(items, BY[:3], variant) for variant in VARIANTS},
        sampled=design is not None,
        signature=made.signature,
    )
