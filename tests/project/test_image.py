"""The image and its composition: everything pinned and locked, nothing runs as root or without limits."""

import json
import re
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.scan

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.lock", "requirements-cpu.lock", "requirements-build.lock")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
PARTS = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]


def pins(name: str) -> dict[str, str]:
    """Return package -> version of a file of requirements or of a lock file."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return {
        package.lower().replace("_", "-"): version
        for package, version in re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.M)
    }


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_of_a_lock_file_has_hashes_and_no_index_is_named(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    assert [entry.split("\n")[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in text and "--index" not in text and "--find-links" not in text


def test_lock_files_contain_the_pinned_versions() -> None:
    """`sh bin/lock.sh` writes them again."""
    wanted = pins("requirements.txt")
    for lock in LOCKS[:2]:
        locked = {name: version.split("+")[0] for name, version in pins(lock).items()}
        assert {name: locked.get(name) for name in wanted} == wanted, lock
    assert pins("requirements-build.txt") == pins("requirements-build.lock")


def test_the_image_installs_only_locked_packages() -> None:
    installs = re.findall(r"pip install[^\n]*", DOCKERFILE)
    assert installs and all("--require-hashes" in install for install in installs)
    assert "-r requirements.txt" not in DOCKERFILE
    copied = set(re.findall(r"requirements[\w-]*\.lock", DOCKERFILE))
    assert copied == set(LOCKS)


def test_the_image_runs_unprivileged_with_a_health_check() -> None:
    assert re.search(r"^USER evenhand$", DOCKERFILE, re.M)
    assert "/healthz" in DOCKERFILE
    assert json.loads(DOCKERFILE.rstrip().splitlines()[-1].removeprefix("CMD "))[0] == "streamlit"


@pytest.mark.parametrize("name", sorted(PARTS))
def test_every_part_is_confined(name: str) -> None:
    part = PARTS[name]
    assert part["read_only"] is True and part["cap_drop"] == ["ALL"]
    assert part["security_opt"] == ["no-new-privileges:true"]
    assert part["mem_limit"] and part["pids_limit"] and part["stop_grace_period"]
    assert part["logging"]["options"]["max-size"]
    assert all("noexec" in tmpf for tmpf in part["tmpfs"])


def test_only_the_proxy_is_exposed_and_trusted() -> None:
    assert [name for name, part in PARTS.items() if part.get("ports")] == ["caddy"]
    assert PARTS["app"]["user"] == PARTS["backup"]["user"] == "10001:10001"
    assert PARTS["app"]["environment"]["EVENHAND_PROXY"] == PARTS["caddy"]["networks"]["inner"]["ipv4_address"]
    for part in PARTS.values():
        assert not [
            variable for variable in part.get("environment", {}) if re.search("TOKEN$|PASSWORD|SECRET|KEY$", variable)
        ]
