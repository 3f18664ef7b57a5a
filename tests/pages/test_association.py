"""The page Professions, as a visitor uses it: choose sentences, start, read a finished run section by section."""

import pytest

from evenhand.annotations.jobs import jobs, kinds
from evenhand.core.association.run import Settings, run
from evenhand.core.language import translate
from evenhand.core.runs.kinds import Place
from evenhand.core.runs.records import runs_folder, runs_in
from tests.support.pages import captions_of, html_of, open_page, without_errors

pytestmark = pytest.mark.usefixtures("nothing_runs")
MODEL = "planted:association=0.8"
PROFESSIONS = "profession\tclass\tfield\twomen\n" + "".join(
    f"{name}\t{kind}\t{field}\t{women}\n"
    for name, kind, field, women in [
        ("nurse", "female", "<b>health</b>", 88.9), ("secretary", "female", "office", 93.2),
        ("carpenter", "male", "crafts", 2.8), ("plumber", "male", "crafts", 2.7), ("judge", "balanced", "law", 52.5),
        ("photographer", "balanced", "art", 49.3),
    ]
)  # fmt: skip


@pytest.fixture
def finished(tmp_path, fresh_store):
    """Return a finished run over six professions."""
    path = tmp_path / "professions.tsv"
    path.write_text(PROFESSIONS, encoding="utf-8")
    settings = Settings(language="en", models=(MODEL,), run_name="six [x](y) $1$", professions=path, threads=1)
    return run(settings, Place(fresh_store.path, lambda *_: None))


def test_without_runs_the_sentences_are_shown(fresh_store):
    page = without_errors(open_page("association"))
    assert page.title[0].value == "Professions"
    assert "5,400 sentences: 5 templates × 18 person words × 60 professions." in captions_of(page)
    shown = html_of(page)
    assert '<span class="male">He</span> is a <span class="profession">taper</span>.' in shown
    assert "[MASK] is a taper." in shown
    page = open_page("association", section="hypotheses")
    assert any(
        "No measurements yet. Choose sentences and a model under New measurement, and start." in info.value
        for info in without_errors(page).info
    )


@pytest.mark.parametrize(
    ("language", "banner"),
    [
        ("es", "and reveal it, so the values reflect grammar as well as bias"),
        (
            "eu",
            "Basque bera means both she and he, so the difference of that pair is always 0.",
        ),
    ],
)
def test_banners_explain_limits_of_a_language(fresh_store, language, banner):
    page = without_errors(open_page("association"))
    without_errors(page.selectbox(key="set").set_value(language).run())
    assert any(banner in warning.value for warning in [*page.warning, *page.info])
    assert page.button(key="start").disabled  # no built-in model of that language


def test_a_run_is_started_with_the_chosen_settings(fresh_store):
    page = without_errors(open_page("association"))
    page.multiselect(key="professions-models-en").set_value(["known"]).run()
    page.checkbox(key="an").check().run()
    page.radio(key="target").set_value("first_piece").run()
    page.text_input(key="name").set_value("mine").run()
    without_errors(page.button(key="start").click().run())
    [job] = jobs.jobs(fresh_store)
    assert kinds.settings_of(job) == Settings(
        language="en",
        models=("known",),
        run_name="mine",
        an=True,
        determiners="given",
        target="first_piece",
        attribute="word",
    )
    assert job.title == "Professions: English (BEC-Pro) with known"
    assert "英语" in jobs.title_in(job.wording, lambda text: translate(text, "zh"))
    command = "python cli.py association --language en --model known --run mine --an --determiners given"
    assert f"{command} --target first_piece --attribute word" in [code.value for code in page.code]
    assert "Not finished" in [heading.value for heading in page.header]


def test_own_lists_are_checked_at_upload(fresh_store):
    page = without_errors(open_page("association"))
    page.file_uploader(key="own-professions").set_value(("p.tsv", b"profession\tclass\nwelder\tmale\n", "text/plain"))
    without_errors(page.run())
    assert "90 sentences" in captions_of(page)
    page.file_uploader(key="own-professions").set_value(("p.tsv", b"job\nwelder\n", "text/plain")).run()
    assert "p.tsv lacks the column profession" in page.error[0].value.replace("\\", "")


SECTIONS = {
    "hypotheses": "H4",
    "professions": "Mean association with each group",
    "shares": "Each point is a profession",
    "words": "sister (sibling)",
    "printed": "BERT mono",
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_section_of_a_run_opens(finished, language):
    for section, sign in SECTIONS.items():
        page = without_errors(open_page("association", language, section=section))
        text = html_of(page) + captions_of(page) + "\n".join(heading.value for heading in page.header)
        assert language == "zh" or sign in text
        assert "<b>health" not in text


def test_numbers_of_a_run_are_shown(finished):
    page = without_errors(open_page("association"))
    assert any("540 sentences" in markdown.value for markdown in page.markdown)
    assert "Male and female words differ clearly in " in html_of(page) and "H1: " in html_of(page)
    assert "1,080 probes in" in captions_of(page)
    shown = html_of(page)
    assert "✓ holds" in shown
    assert "+1.600" in shown  # M - W of male professions
    page.number_input(key="margin").set_value(5.0).run()  # two balanced professions: one degree of freedom
    assert "The two one-sided tests reject" in html_of(without_errors(page))


def test_a_run_is_deleted(fresh_store, finished):
    page = without_errors(open_page("association"))
    without_errors(page.button(key="delete-six [x](y) $1$").click().run())
    assert runs_in(runs_folder(fresh_store.path, "associations")) == []
    assert any(
        "No measurements yet. Choose sentences and a model under New measurement, and start." in info.value
        for info in page.info
    )
