"""`swap FILE`: the counts that scripts read, the texts, own words and names."""

from pathlib import Path

from tests.support.terminal import answered, typed


def test_a_file_of_texts_is_swapped_and_counted(tmp_path: Path) -> None:
    source, out = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("他来了。\n子女。\n", encoding="utf-8")
    result = answered("swap", source, "--language", "zh", "--out", out, "--pairs", "released")
    assert (result["swapped"], result["left"], result["refused"]) == (1, 1, 0)
    assert out.read_text(encoding="utf-8") == "她来了。\n子女。\n"


def test_swap_uses_own_words_and_names_and_writes_a_training_copy(tmp_path: Path) -> None:
    source, out, own, names = (tmp_path / name for name in ("in.txt", "out.txt", "own.tsv", "names.tsv"))
    source.write_text("Mary's mum ran.\n", encoding="utf-8")
    own.write_text("male\tfemale\ndad\tmum\n", encoding="utf-8")
    names.write_text("male\tfemale\nJohn\tMary\n", encoding="utf-8")
    arguments = ("--language", "en", "--out", out, "--words", own, "--names", names, "--mode", "cda")
    ended = typed("swap", source, *arguments)
    assert ended.code == 0 and "1 texts: 1 swapped" in ended.stdout and "mum→dad 1" in ended.stdout
    assert out.read_text(encoding="utf-8") == "Mary's mum ran.\nJohn's dad ran.\n"
