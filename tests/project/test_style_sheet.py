"""The style sheet of the pages: five sizes of type, two weights, and no other."""

import re

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.scan
SHEET = (ROOT / "pages" / "ui" / "style.css").read_text(encoding="utf-8")
SIZES = {f"var(--size-{size})" for size in (12, 14, 16, 20, 28)}


def test_type_has_five_sizes_and_two_weights() -> None:
    sizes = set(re.findall(r"font-size:\s*([^;}]+?)\s*[;}]", SHEET))
    weights = set(re.findall(r"font-weight:\s*([^;}]+?)\s*[;}]", SHEET))
    assert sizes - {"0"} == SIZES  # 0 hides words of Streamlit
    assert weights == {"var(--regular)", "var(--strong)"}
    assert not re.search(r"font:(?! var\(--strong\) var\(--size-12\))", SHEET)


def test_headings_of_the_theme_have_these_sizes() -> None:
    theme = (ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    assert 'headingFontSizes = ["20px", "16px", "14px"]' in theme
    assert "headingFontWeights = [600, 600, 600]" in theme


def test_pages_write_no_size_of_their_own() -> None:
    found = [
        f"{file.relative_to(ROOT)}: {size}"
        for file in sorted((ROOT / "pages").rglob("*.py"))
        for size in re.findall(r"font-(?:size|weight):(?! ?var)[^;\"]+", file.read_text(encoding="utf-8"))
    ]
    assert not found
