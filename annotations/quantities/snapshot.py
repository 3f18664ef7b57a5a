"""The records of a project at one moment, from which every quantity is computed."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from evenhand.annotations.adjudication.totals import AdjudicationTotals, adjudication_totals
from evenhand.annotations.agreement.measures import AgreementReport, agreement
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.provenance import articles
from evenhand.annotations.labels.blind_labels import ItemScope
from evenhand.annotations.labels.totals import LabelTotals, label_totals
from evenhand.annotations.progress.cells import CellCounts, cell_counts, funnel, mining, selected, total
from evenhand.annotations.projects.steps import Pipeline, pipeline
from evenhand.annotations.quality.known_answers import AnswerTotals, answer_totals
from evenhand.annotations.quality.retest_agreement import RetestReport, retest_report
from evenhand.annotations.types import Project
from evenhand.core.statistics import Note

if TYPE_CHECKING:
    from evenhand.annotations.forecast.work import Forecast
    from evenhand.annotations.progress.annotators import Worker
    from evenhand.annotations.progress.dashboard import Dashboard
    from evenhand.annotations.quantities.pilots import PilotNumbers
    from evenhand.annotations.sampling.samples import SampleState
    from evenhand.core.describe.description import Description
    from evenhand.core.human_vs_rule.compare import Comparison


class Snapshot:
    """The records of a project; what several quantities need is read once, at its first use.

    Make it inside `store.read()`, so that all of it is of one moment.
    """

    def __init__(self, store: Store, project: Project) -> None:
        self.store, self.project = store, project
        self._agreement: dict[ItemScope, AgreementReport] = {}
        self._texts: dict[str, Description] = {}

    @property
    def sentences(self) -> bool:
        """True for a project of sentences, false for one of generations."""
        return self.project.kind == "sentences"

    @cached_property
    def agreement(self) -> AgreementReport:
        """The agreement on the items that are usual for the plan."""
        report = agreement(self.store, self.project)
        self._agreement[report.on] = report
        return report

    def agreement_on(self, scope: ItemScope) -> AgreementReport:
        """Return the agreement on all labelled items, or on the random share."""
        if self.agreement.on != scope and scope not in self._agreement:
            self._agreement[scope] = agreement(self.store, self.project, on=scope)
        return self._agreement[scope]

    @cached_property
    def selected(self) -> Note | None:
        """The reason for which labels decide which items are reviewed; None if they do not."""
        return selected(self.store, self.project)

    @cached_property
    def items(self) -> list[CellCounts]:
        """The numbers of items of each pair and side."""
        return cell_counts(self.store, self.project)

    @cached_property
    def cells(self) -> list[dict[str, Any]]:
        """The counts of each pair and side, or stratum."""
        return funnel(self.store, self.project)

    @cached_property
    def total(self) -> dict[str, Any]:
        """The counts of all of them together."""
        return total(self.store, self.project, self.cells)

    @cached_property
    def mining(self) -> dict[str, Any]:
        """The mining runs whose candidates were imported, and their sums."""
        return mining(self.store, self.project)

    @cached_property
    def label_totals(self) -> LabelTotals:
        """The sums over the valid labels."""
        return label_totals(self.store, self.project)

    @cached_property
    def comparison(self) -> "Comparison":
        """People compared with the rule, of generations under the built-in scheme."""
        # Imported here, so that commands for sentences start without pandas.
        from evenhand.annotations.human_vs_rule.people_by_instance import design_of
        from evenhand.annotations.labels.generation_labels import generations, labels_of_generations
        from evenhand.core.human_vs_rule import compare

        rows = generations(self.store, self.project)
        design = design_of(self.store, self.project, rows)
        return compare.comparison(rows, labels_of_generations(self.store, self.project), design=design)

    @cached_property
    def pipeline(self) -> Pipeline:
        """The texts of the project, each counted once, as on the page Home."""
        return pipeline(self.store, (self.project.uid,))

    def texts(self, items: Literal["accepted", "all"]) -> "Description":
        """Return the description of the texts of the accepted items, or of all."""
        from evenhand.annotations.describe.project_description import describe_items, usual_vocabulary
        from evenhand.core.describe.vocabulary import vocabulary

        if items not in self._texts:
            words = vocabulary(usual_vocabulary(self.project.language))
            self._texts[items] = describe_items(self.store, self.project, items=items, words=words)
        return self._texts[items]

    @cached_property
    def forecast(self) -> "Forecast":
        """The forecast of work, as the page Labelling plan shows it first."""
        from evenhand.annotations.forecast.work import forecast

        return forecast(self.store, self.project)

    @cached_property
    def pilots(self) -> "dict[str, PilotNumbers]":
        """The numbers of each pilot, by its number."""
        from evenhand.annotations.quantities.pilots import pilot_numbers

        return pilot_numbers(self.store, self.project)

    @cached_property
    def samples(self) -> "dict[str, SampleState]":
        """The progress of each sample, by its number."""
        from evenhand.annotations.sampling.samples import samples, state_of

        return {str(one.number): state_of(self.store, one) for one in samples(self.store, self.project)}

    @cached_property
    def dashboard(self) -> "Dashboard":
        """The lead's view of the work."""
        from evenhand.annotations.progress.dashboard import dashboard

        return dashboard(self.store, self.project)

    @cached_property
    def workers(self) -> "tuple[Worker, ...]":
        """The work of each annotator."""
        return self.dashboard.people

    @cached_property
    def retests(self) -> RetestReport:
        """The second labels, compared with the first ones."""
        return retest_report(self.store, self.project)

    @cached_property
    def answers(self) -> AnswerTotals:
        """The labels on items with a known answer."""
        return answer_totals(self.store, self.project, articles(self.store, self.project))

    @cached_property
    def adjudication(self) -> AdjudicationTotals:
        """The decisions of adjudicators."""
        return adjudication_totals(self.store, self.project)
