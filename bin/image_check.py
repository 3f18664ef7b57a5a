"""`make image-check`: the image's steps without Docker, in a Debian chroot, and the app in it behind Caddy.

The instructions of the Dockerfile are carried out one after the other (FROM, ARG, WORKDIR, COPY, RUN, ENV), on a base
that debootstrap makes. Then the app runs as the image's user on a read-only root without any capability, its health
check is run, and the script makes the first account and signs in over TLS through the Caddyfile of compose.yaml, with
Caddy's own certificate. Needs root, debootstrap and caddy (both Debian packages); writes under IMAGE_CHECK_FOLDER.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(os.environ.get("IMAGE_CHECK_FOLDER", "/var/tmp/evenhand-image"))  # noqa: S108  (root's; kept for the next time)
NAME = "evenhand.localhost"  # for which Caddy is its own authority
PORT, HTTPS, HTTP = 28601, 28643, 28680
BASE_PACKAGES = "python3,python3-venv,ca-certificates"
STARTED = """
set -eu
mount --bind {root} {root}
mount -o remount,bind,ro {root}
mount -t proc proc {root}/proc
mount -t tmpfs -o mode=1777,noexec,nosuid,nodev tmpfs {root}/tmp
mount --bind /dev {root}/dev
mount --bind {volume} {root}/data
cd {root}
exec /usr/sbin/chroot --userspec=10001:10001 --groups= {root} setpriv --no-new-privs --bounding-set -all \
    sh -c 'cd {workdir} && exec "$@"' sh {command}
"""


def instructions() -> Iterator[tuple[str, str]]:
    """Each instruction of the Dockerfile: its word and the rest, lines joined."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    text = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n", "", text, flags=re.M))
    for line in text.splitlines():
        word, _, rest = line.strip().partition(" ")
        if word:
            yield word, rest.strip()


class Image:
    """The stages of the Dockerfile as folders, and what it says about how the app is started."""

    def __init__(self) -> None:
        self.base, self.stages, self.names = FOLDER / "base", list[Path](), dict[str, Path]()
        self.workdir, self.user, self.command, self.health = "/", "", "", ""
        self.arguments: dict[str, str] = {}
        self.environment: dict[str, str] = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}

    @property
    def root(self) -> Path:
        """The stage that is built now; at the end: the image."""
        return self.stages[-1]

    def build(self) -> None:
        """Carry out every instruction."""
        for word, rest in instructions():
            if word == "CMD":
                self.command = rest
            elif word not in ("VOLUME", "EXPOSE", "STOPSIGNAL"):
                print(f"{word} {rest[:110]}", flush=True)
                self.carry_out(word, rest)

    def carry_out(self, word: str, rest: str) -> None:
        """One instruction; one that is not known here is an error."""
        known = {
            "FROM": self.begin, "ARG": self.argument, "ENV": self.variables, "WORKDIR": self.enter, "COPY": self.copy,
            "RUN": self.run, "USER": self.become, "HEALTHCHECK": self.healthcheck,
        }  # fmt: skip
        known[word](rest)

    def argument(self, rest: str) -> None:
        """ARG: from the environment of this program, else the default."""
        name, _, default = rest.partition("=")
        self.arguments[name] = os.environ.get(name, default.strip('"'))

    def variables(self, rest: str) -> None:
        """ENV."""
        self.environment |= dict(part.split("=", 1) for part in shlex.split(rest))

    def enter(self, rest: str) -> None:
        """WORKDIR."""
        self.workdir = rest
        (self.root / rest.strip("/")).mkdir(parents=True, exist_ok=True)

    def become(self, rest: str) -> None:
        """USER."""
        self.user = rest

    def healthcheck(self, rest: str) -> None:
        """HEALTHCHECK."""
        self.health = rest.partition("CMD ")[2]

    def begin(self, rest: str) -> None:
        """Carry out FROM: make a fresh copy of the base, under any image name."""
        stage = FOLDER / f"stage-{len(self.stages)}"
        shutil.rmtree(stage, ignore_errors=True)
        subprocess.run(["/bin/cp", "-a", "--reflink=auto", str(self.base), str(stage)], check=True)
        self.stages.append(stage)
        self.workdir, self.user, self.arguments = "/", "root", {}
        self.names[rest.partition(" AS ")[2]] = stage
        index = os.environ.get("EVENHAND_TORCH_INDEX", "")
        if index.startswith("/"):  # a folder with torch's wheel
            shutil.copytree(index, stage / index.strip("/"), dirs_exist_ok=True)

    def copy(self, rest: str) -> None:
        """COPY, from the project or an earlier stage."""
        match = re.match(r"--from=(\S+) (.*)", rest)
        source, paths = (self.names[match[1]], match[2]) if match else (ROOT, rest)
        *parts, target = paths.split()
        into = self.root / (target if target.startswith("/") else f"{self.workdir}/{target}").strip("/")
        for part in parts:
            one = source / part.strip("/")
            if one.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", "*.db*")
                shutil.copytree(one, into, symlinks=True, dirs_exist_ok=True, ignore=None if match else ignored)
            else:
                into.mkdir(parents=True, exist_ok=True)
                shutil.copy2(one, into)

    def run(self, rest: str) -> None:
        """RUN: in the chroot, as root, with the arguments and the environment."""
        variables = [f"{name}={value}" for name, value in (self.environment | self.arguments).items()]
        started = time.monotonic()
        command = f"cd {self.workdir} && {rest}"
        subprocess.run(["/usr/sbin/chroot", str(self.root), "env", "-i", *variables, "sh", "-c", command], check=True)
        print(f"    {time.monotonic() - started:.0f} s", flush=True)


def make_base(base: Path) -> None:
    """A Debian with the Python that the base image brings, once."""
    if (base / "made").exists():
        return
    shutil.rmtree(base, ignore_errors=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    command = ["debootstrap", "--variant=minbase", f"--include={BASE_PACKAGES}", "bookworm", str(base)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    # As a build host with certificates of its own has them.
    shutil.copy2("/etc/ssl/certs/ca-certificates.crt", base / "etc/ssl/certs/ca-certificates.crt")
    shutil.copy2("/etc/resolv.conf", base / "etc/resolv.conf")
    (base / "usr/bin/python").symlink_to("python3")
    (base / "made").touch()


def start(image: Image, volume: Path, words: list[str], log_name: str) -> "subprocess.Popen[bytes]":
    """A command in the image as its user, as compose.yaml confines it."""
    volume.mkdir(exist_ok=True, mode=0o700)
    os.chown(volume, 10001, 10001)
    command = " ".join(map(shlex.quote, words))
    script = STARTED.format(root=image.root, volume=volume, workdir=image.workdir, command=command)
    more = {
        "EVENHAND_HOSTS": NAME,
        "EVENHAND_URL": f"https://{NAME}:{HTTPS}",
        "EVENHAND_PROXY": "127.0.0.1",
        "EVENHAND_LOG": "json",
        "STREAMLIT_SERVER_ADDRESS": "127.0.0.1",
        "STREAMLIT_SERVER_PORT": str(PORT),
    }
    with (FOLDER / log_name).open("wb") as log:
        arguments = ["unshare", "--mount", "sh", "-c", script]
        return subprocess.Popen(arguments, env=image.environment | more, stdout=log, stderr=log)


def start_caddy() -> "subprocess.Popen[bytes]":
    """Caddy with the Caddyfile of compose.yaml and its own certificate."""
    shutil.rmtree(FOLDER / "caddy", ignore_errors=True)
    more = {
        "EVENHAND_HOST": f"{NAME}:{HTTPS}",
        "EVENHAND_UPSTREAM": f"127.0.0.1:{PORT}",
        "EVENHAND_HTTP_PORT": str(HTTP),
        "XDG_DATA_HOME": str(FOLDER / "caddy"),
        "XDG_CONFIG_HOME": str(FOLDER / "caddy"),
    }
    with (FOLDER / "caddy.log").open("wb") as log:
        command = ["caddy", "run", "--config", str(ROOT / "Caddyfile"), "--adapter", "caddyfile"]
        return subprocess.Popen(command, env=os.environ | more, stdout=log, stderr=log)


def health(image: Image) -> int:
    """The health check of the image, on the port of this check."""
    command = [part.replace(":8501", f":{PORT}") for part in json.loads(image.health)]
    inside = ["/usr/sbin/chroot", "--userspec=10001:10001", str(image.root), *command]
    return subprocess.run(inside, env=image.environment, check=False, stderr=subprocess.DEVNULL).returncode


def wait(what: str, happened: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait until *happened* is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if happened():
            print(f"ok  {what}", flush=True)
            return
        time.sleep(0.5)
    logs = "\n".join((FOLDER / name).read_text(errors="replace")[-2000:] for name in ("app.log", "caddy.log"))
    sys.exit(f"FAILED  {what}\n{logs}")


def check(image: Image) -> None:
    """Start it, look at its health, sign in through Caddy, stop it."""
    volume = FOLDER / "volume"
    shutil.rmtree(volume, ignore_errors=True)
    app, caddy = start(image, volume, json.loads(image.command), "app.log"), start_caddy()
    try:
        wait("the health check of the image", lambda: health(image) == 0)
        authority = FOLDER / "caddy/caddy/pki/authorities/local/root.crt"
        wait("Caddy has a certificate", authority.exists)
        signing = [sys.executable, str(ROOT / "bin/image_sign_in.py"), f"https://{NAME}:{HTTPS}", str(authority)]
        link = re.findall(r"account/link#(\S+)", (FOLDER / "app.log").read_text(encoding="utf-8"))
        signed_in = subprocess.run([*signing, *link[-1:]], check=False).returncode
        doctor = start(image, volume, ["python", "cli.py", "doctor"], "doctor.log").wait(300)
        print((FOLDER / "doctor.log").read_text(encoding="utf-8"), flush=True)
        wait("doctor finds nothing wrong in the image, and its worker answers", lambda: doctor == 0, 1)
        owner = {path.owner() if path.stat().st_uid == 0 else path.stat().st_uid for path in volume.iterdir()}
        wait(f"the files belong to the user of the image ({owner})", lambda: owner == {10001}, 1)
        started = time.monotonic()
        app.send_signal(signal.SIGTERM)
        app.wait(30)
        took = time.monotonic() - started
        wait(f"SIGTERM ended it in {took:.1f} s", lambda: took < 11, 1)
        if signed_in:
            sys.exit("FAILED  signing in through Caddy")
    finally:
        for process in (app, caddy):
            if process.poll() is None:
                process.terminate()
                process.wait(30)


def main() -> None:
    """Build and check."""
    missing = [name for name in ("debootstrap", "caddy", "unshare", "setpriv") if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        sys.exit(f"This needs root and {', '.join(missing) or 'nothing else'}: apt install {' '.join(missing)}")
    image = Image()
    make_base(image.base)
    if "--no-build" in sys.argv:  # the image of the last time, with the files of now
        image.stages = [FOLDER / "stage-0", FOLDER / "stage-1"]
        image.names["packages"] = image.stages[0]
        for word, rest in instructions():
            if word in ("ENV", "WORKDIR", "HEALTHCHECK") or (
                word == "COPY" and "--from" not in rest and "lock" not in rest
            ):
                image.carry_out(word, rest)
            image.command = rest if word == "CMD" else image.command
    else:
        image.build()
    check(image)
    print("The image builds, runs and lets somebody in.")


if __name__ == "__main__":
    main()
