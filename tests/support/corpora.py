"""Folders of texts to mine."""

from pathlib import Path


def many(tmp_path: Path, count: int = 400) -> Path:
    folder = tmp_path / "many"
    folder.mkdir()
    words = ["他", "她", "男孩", "女孩", "爸爸", "妈妈", "姥姥", "吉他"]
    for number in range(4):
        rows = []
        for n in range(count):
            word = words[(n * 7 + number) % len(words)]
            rows.append(
                f"第{n * 37 % 101}号楼前的{word}在{n * number}点看见了{n % 13}只灰色的鸟，{n * 11}分钟以后才走。"
            )
        (folder / f"{number}.txt").write_text("\n".join(rows), encoding=("utf-8", "gb18030")[number % 2])
    return folder
