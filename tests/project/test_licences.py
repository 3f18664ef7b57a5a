"""Every package that the app needs has a licence under which the app may be distributed with it."""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

pytestmark = pytest.mark.scan

ROOT = Path(__file__).resolve().parents[2]
# As SPDX expressions, classifiers and older free texts name them. MPL-2.0 covers single files, which are not changed.
ALLOWED = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0"),
    *("MIT-CMU", "MPL-2.0", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib", "Apache-2.0 WITH LLVM-exception"),
    *("3-Clause BSD License", "Apache 2.0", "Apache 2.0 License", "Apache License 2.0", "Apache License, Version 2.0"),
    *("Apache Software License", "BSD License", "ISC License (ISCL)", "MIT License", "Public Domain"),
    *("Mozilla Public License 2.0 (MPL 2.0)", "Python Software Foundation License"),
}


def required() -> set[str]:
    """Return the packages of requirements.txt and of what users may add to it, and all that these need."""
    files = (ROOT / name for name in ("requirements.txt", "requirements-cluster.txt", "requirements-names.txt"))
    names = {match[1] for file in files for match in re.finditer(r"^([\w.-]+)==", file.read_text("utf-8"), re.M)}
    packages, waiting = set[str](), sorted(names)
    while waiting:
        name = waiting.pop()
        if name in packages:
            continue
        try:
            needs = distribution(name).requires or []
        except PackageNotFoundError:  # of another platform
            continue
        packages.add(name)
        waiting += [re.split(r"[^\w.-]", need, maxsplit=1)[0] for need in needs if "extra ==" not in need]
    return packages


def licences(name: str) -> set[str]:
    """Return the licences of an installed package, one by one; of alternatives (OR) all."""
    metadata = distribution(name).metadata
    classifiers = [line.split(" :: ")[-1] for line in metadata.get_all("Classifier", []) if line.startswith("License")]
    text = (metadata.get("License") or "none").splitlines()[0]
    expression = metadata.get("License-Expression") or ("" if classifiers else text)
    return set(re.split(r" AND | OR ", expression.strip("()"))) if expression else set(classifiers)


def test_every_licence_is_allowed() -> None:
    packages = required()
    assert {"streamlit", "torch", "numpy"} <= packages
    assert not {name: refused for name in sorted(packages) if (refused := licences(name) - ALLOWED)}


def test_a_copyleft_licence_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Package:
        metadata = type("Metadata", (), {"get_all": lambda *_: [], "get": lambda *_: "GPL-3.0-or-later"})()

    monkeypatch.setattr("tests.project.test_licences.distribution", lambda _: Package)
    assert licences("package") - ALLOWED == {"GPL-3.0-or-later"}
