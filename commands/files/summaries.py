"""What an import did, in words."""

from evenhand.annotations.files.import_items import ImportReport
from evenhand.annotations.files.import_labels import LabelImport
from evenhand.annotations.files.other_tools.import_tasks import LEFT, TaskImport
from evenhand.annotations.files.package.gold_labels import NOT_STATED, GoldLabels
from evenhand.annotations.imports.report import LabelsReport, Report
from evenhand.core.language import Count

LEFT_IN_WORDS = {
    "skipped": "skipped", "empty": "without a choice", "drafts": "drafts", "predictions": "predictions",
    "ground_truth": "ground truth", "without_item": "on texts that could not be used",
    "other": "answers of other kinds",
}  # fmt: skip


def summary_of(report: Report) -> list[str]:
    """Return the lines of the report of an import; empty ones say nothing."""
    if isinstance(report, TaskImport):
        left = [f"{report.left[key]} {LEFT_IN_WORDS[key]}" for key in LEFT if report.left[key]]
        labels = _labels(report.labels) + _beside(report.labels)
        return [_items(report.items), labels, f"counted: {', '.join(left)}" if left else ""]
    return _labels_report(report) if isinstance(report, LabelsReport) else [_items(report)]


def _labels_report(report: LabelsReport) -> list[str]:
    items, labels = report.items, report.labels
    text = "" if items is None else f"{items.imported} items imported, {items.duplicates} duplicates; "
    text += f"{_labels(labels)}; {labels.decisions} decisions and comments{_beside(labels)}"
    return [text, "" if report.gold is None else _gold(report.gold)]


def _labels(labels: LabelImport) -> str:
    return (
        f"{labels.rows} labels read: {labels.imported} imported, {labels.duplicates} here already, "
        f"{labels.rejected} rejected"
    )


def _beside(labels: LabelImport) -> str:
    return f"; {labels.beside} kept beside a label that was here first" if labels.beside else ""


def _gold(gold: GoldLabels) -> str:
    """Return the numbers of the gold labels of a package, and of what it lacks, for the terminal."""
    if not gold.rows and not gold.withheld and not gold.left_out:
        return ""
    text = (
        f"{gold.rows} gold labels: {gold.here} from labels and decisions, {gold.imported} imported without all of "
        f"their single labels, {gold.kept} differ from those here, which stay, {gold.rejected} rejected"
    )
    if gold.withheld:
        text += f"; {gold.withheld} items without a gold label, although the labels in the package agree"
    if gold.left_out and any(gold.left_out.values()):
        text += (
            "\nnot in the package: {labels} {labels:label|labels} of {annotators} {annotators:annotator|annotators} "
            "who did not consent, {comments} {comments:comment|comments} "
            "(theirs and private ones), some labels of {open_cases} open {open_cases:case|cases}"
        ).format(**{name: Count(number) for name, number in gold.left_out.items()})
    elif gold.imported and gold.left_out is None:
        text += f"\n{NOT_STATED}"
    return text


def _items(report: ImportReport) -> str:
    """The report of an import in words."""
    text = (
        f"{report.rows} rows read ({report.encoding}): {report.imported} imported, "
        f"{report.duplicates} duplicates, {report.rejected} rejected"
    )
    if report.reasons:
        text += " (" + ", ".join(f"{reason} {count}" for reason, count in report.reasons.most_common()) + ")"
    if report.spans:
        text += "\npositions: " + ", ".join(f"{status} {count}" for status, count in report.spans.most_common())
    if report.repeated:
        text += f"\nleft out, the same rows again: {', '.join(report.repeated)}"
    if report.odd_signs:
        signs = ", ".join(f"{sign} in {count}" for sign, count in sorted(report.odd_signs.items()))
        text += f"\nkept as they are, texts with {signs}"
    if report.turned:
        text += f"\nduplicates with the two texts the other way round: {report.turned}"
    return text
