"""The page proof.html as a file: its policy, its scripts, and the documents that its checks name."""

import base64
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from evenhand.annotations.release.proof import page as made
from evenhand.annotations.release.proof.checks import CHECKS, IDS

DOCS = Path(__file__).resolve().parents[3] / "docs"


def script() -> str:
    scripts = re.findall(r"<script>(.*?)</script>", made.proof_page(), re.DOTALL)
    assert len(scripts) == 1
    return str(scripts[0])


def test_policy_allows_only_the_script_of_the_page() -> None:
    page = made.proof_page()
    digest = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()
    policy = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy == [
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}';"
        " base-uri 'none'; form-action 'none'"
    ]
    assert not re.findall(r"""(?:src|href)=|\bimport\b|https?://|fetch\(|XMLHttp""", page)


def test_scripts_are_joined_once_and_write_no_html() -> None:
    folder = made.FOLDER / "static"
    assert sorted(made.SCRIPTS) == sorted(path.stem for path in folder.glob("*.js"))
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", script())


def test_the_joined_script_parses(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the browser test runs the script")
    joined = tmp_path / "proof.js"
    joined.write_text(script(), encoding="utf-8")
    done = subprocess.run([node, "--check", str(joined)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_check_is_documented() -> None:
    table = (DOCS / "release.md").read_text(encoding="utf-8")
    for check in CHECKS:
        area = check.id.partition(".")[0]
        assert f"`{check.id}`" in table or f"`{area}.*`" in table, check.id
        file, _, anchor = check.document.partition("#")
        headings = re.findall(r"^#+ (.*)$", (DOCS / file).read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
    assert len(set(IDS)) == len(IDS)
