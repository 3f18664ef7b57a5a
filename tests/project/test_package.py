"""The installable package: one top-level name, the command, and every file that the app reads."""

import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from evenhand.core.version import VERSION

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--no-build-isolation", "-q", "-w", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (file,) = folder.glob("evenhand-*.whl")
    return file


def test_the_wheel_has_one_top_level_name(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"evenhand", f"evenhand-{VERSION}.dist-info"}
    assert not [name for name in names if "__pycache__" in name]


def test_the_wheel_contains_every_file_of_the_layers(wheel: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this folder is not a checkout of git")
    layers = ("annotations/", "commands/", "core/", "locale/", "pages/", "web/")
    tracked = {f"evenhand/{name}" for name in listed.stdout.split("\0") if name.startswith(layers)}
    assert tracked and tracked - set(zipfile.ZipFile(wheel).namelist()) == set()


def test_an_installed_wheel_works_next_to_modules_of_equal_names(wheel: Path, tmp_path: Path) -> None:
    """A folder with its own core.py and pages.py, as a stranger may have."""
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    python = tmp_path / "venv" / "bin" / "python"
    site = subprocess.check_output([python, "-c", "import site; print(site.getsitepackages()[0])"], text=True).strip()
    zipfile.ZipFile(wheel).extractall(site)
    # What the app needs comes from this environment, in which Evenhand itself is not installed.
    (Path(site) / "requirements.pth").write_text(str(Path(pytest.__file__).parents[1]))
    project = tmp_path / "project"
    project.mkdir()
    for name in ("core", "pages", "commands", "annotations", "web"):
        (project / f"{name}.py").write_text("raise ImportError('a module of the stranger')")
    code = "import evenhand; print(evenhand.__file__); print(len(evenhand.mine(['那位女孩在操场上跑步，跑得很快。'])))"
    done = subprocess.run([python, "-c", code], cwd=project, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith(site) and done.stdout.splitlines()[-1] == "1"
    version = subprocess.check_output([python, "-m", "evenhand", "--version"], cwd=project, text=True)
    assert VERSION in version


def test_pyproject_and_citation_have_the_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert project["version"] == VERSION and f"\nversion: {VERSION}\n" in citation


@pytest.mark.scan
def test_every_layer_is_copied_into_the_image() -> None:
    """Each folder of the wheel is copied into the image, and let through by .dockerignore."""
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    layers = {name for name in (*wheel["packages"], *wheel["force-include"]) if (ROOT / name).is_dir()}
    copied = set(re.findall(r"^COPY (\w+) \1$", (ROOT / "Dockerfile").read_text("utf-8"), re.M))
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    assert {"evenhand", "core", "web"} <= layers
    assert layers - copied == set() and layers - let_in == set()
