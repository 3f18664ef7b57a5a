"""The page Tune a model: the job that it starts, the memory it names, finished models; jobs are only written down."""

from pathlib import Path

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.jobs import jobs
from evenhand.annotations.jobs.kinds import settings_of
from evenhand.core.runs.records import runs_folder
from evenhand.core.swap.word_tables import word_table
from evenhand.core.tune.report import tuned_folder, write_run
from evenhand.core.tune.run import tune
from evenhand.core.tune.settings import Settings
from evenhand.core.tune.texts import training_texts
from tests.support.pages import open_page, text_of, without_errors

pytestmark = pytest.mark.usefixtures("nothing_runs")


def test_the_form_starts_its_job(fresh_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.txt").write_text("他来了。\n", encoding="utf-8")
    monkeypatch.setenv("EVENHAND_CORPUS", str(tmp_path / "corpus"))
    page = open_page("tune", state={"tune-source": "folder", "tune-swap": "cds", "tune-left-out": "男孩/女孩"})
    assert "Memory needed" in text_of(page)
    page.button(key="start").click().run()
    (job,) = jobs.jobs(fresh_store)
    settings = settings_of(job)
    assert (job.kind, settings.method, settings.swap) == ("tune", "training", "cds")
    assert settings.leave_out == ("男孩/女孩",) and settings.model == "demo-en"
    assert settings.run_name and settings.steps == 300


def test_a_finished_model_is_shown_with_its_figures(fresh_store: Store) -> None:
    texts = training_texts([f"他来了。{'很好' * i}" for i in range(40)], "a.txt", words=word_table("zh"), share=0.2)
    folder = tuned_folder(runs_folder(fresh_store.path, "tunes"), "mine [x](y)")
    settings = Settings(model="planted:+1", texts="a.txt", steps=4, batch=4, every=2, device="cpu")
    write_run(tune(settings, texts, folder))
    text = text_of(without_errors(open_page("tune", "zh")))
    assert "留出文本的损失（每词元的 −ln p）" in text and "第 2 步" in text
    assert "用未替换的文本训练（安慰剂）、全部权重、种子：0" in text
    assert "mine \\[x\\]\\(y\\)" in text
