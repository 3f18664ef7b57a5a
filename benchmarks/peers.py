"""The same work in Label Studio, doccano or Potato and here, in turns, each by HTTP on this machine.

    python -m benchmarks.peers --url http://127.0.0.1:8080 --token TOKEN [--items 9900] [--labels 300] [--rounds 3]
    python -m benchmarks.peers --peer doccano --url http://127.0.0.1:8123 --token KEY ...
    python -m benchmarks.peers --peer potato --url http://127.0.0.1:8124 ...

The Label Studio (its legacy token) or doccano (the key that /v1/auth/login/ gives; its task queue must run) at --url,
on a database that may be thrown away: projects are made in it; against the app, started here on a database of its own.
They import and export by their API; here it is the function that the page calls, in this process, from a file and to a
file. A label counts from the request to the acknowledgement (in doccano the category, and the mark that the item is
done); "next" is the request that hands out an item; both on one kept connection. Every round does both sides, in
changing order (--labels: of a round and side). Potato reads its texts when it starts and has no import or export by
HTTP, so only the two are compared: it runs at --url with as many items, a radio scheme "choice" (accept, reject), and
lets everybody in without a password.
"""

import http.client
import io
import itertools
import json
import os
import statistics
import time
import zipfile
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from benchmarks.measuring import Spent, app_server, load, options, percentile
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.session import issue
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.import_items import import_file
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.projects import create_project, project
from evenhand.core.types import JsonObject
from tests.support.browser import Server

WORDS = ("他", "她", "爸爸", "妈妈", "男孩", "女孩", "叔叔", "阿姨")
CONFIG = (
    '<View><Text name="text" value="$text"/><Choices name="choice" toName="text" choice="single">'
    '<Choice value="accept"/><Choice value="reject"/></Choices></View>'
)
Times = dict[str, list[float]]


class Connection:
    """One kept connection that sends and reads JSON."""

    def __init__(self, url: str, authorization: str) -> None:
        parts = urlsplit(url)
        self.web = http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port, timeout=3_600)
        self.headers = {"Authorization": authorization} if authorization else {}

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer as a value. Raises RuntimeError where the server refuses."""
        data = self.send(method, path, None if body is None else json.dumps(body).encode())
        return json.loads(data) if data else None

    def send(self, method: str, path: str, body: bytes | None = None, kind: str = "application/json") -> bytes:
        """The answer as bytes. Raises RuntimeError where the server refuses."""
        self.web.request(method, path, body, self.headers | ({} if body is None else {"Content-Type": kind}))
        reply = self.web.getresponse()
        data = reply.read()
        if reply.status >= 400:
            raise RuntimeError(f"{method} {path}: {reply.status} {data[:300]!r}")
        if cookie := reply.getheader("Set-Cookie"):
            self.headers["Cookie"] = cookie.partition(";")[0]
        return data


class LabelStudio:
    """Label Studio."""

    name, files = "Label Studio", True

    def __init__(self, url: str, token: str, texts: list[str]) -> None:
        self.web, self.texts = Connection(url, f"Token {token}"), texts
        self.version = self.web.ask("GET", "/api/version")["release"]
        self.project = 0

    def begin(self) -> None:
        """A new project."""
        made = self.web.ask("POST", "/api/projects", {"title": "a project for timing", "label_config": CONFIG})
        self.project = made["id"]

    def bring(self) -> None:
        """All texts, at once."""
        self.web.ask("POST", f"/api/projects/{self.project}/import", [{"data": {"text": text}} for text in self.texts])

    def following(self) -> Any:
        """Return the id of the next task of the user."""
        return self.web.ask("GET", f"/api/projects/{self.project}/next")["id"]

    def label(self, item: Any) -> None:
        """One annotation."""
        value = {"choices": ["accept"]}
        result = [{"id": "r1", "from_name": "choice", "to_name": "text", "type": "choices", "value": value}]
        path = f"/api/tasks/{item}/annotations/?project={self.project}"
        self.web.ask("POST", path, {"result": result, "lead_time": 2.0})

    def fetch(self) -> int:
        """Everything with its labels; how many labels there are."""
        path = f"/api/projects/{self.project}/export?exportType=JSON&download_all_tasks=true"
        return sum(len(entry["annotations"]) for entry in self.web.ask("GET", path))

    def end(self) -> None:
        """Take the project away."""
        self.web.ask("DELETE", f"/api/projects/{self.project}/")


class Doccano:
    """doccano, in whose task queue imports and exports are done."""

    name, files = "doccano", True
    version = "at that address"
    BOUNDARY = "one-file"

    def __init__(self, url: str, token: str, texts: list[str]) -> None:
        self.web, self.texts = Connection(url, f"Token {token}"), texts
        self.home, self.category = "", 0

    def begin(self) -> None:
        """A new project of one category."""
        wanted = {"name": "timed", "description": "a project for timing", "guideline": "", "tags": []}
        wanted |= {"project_type": "DocumentClassification", "resourcetype": "TextClassificationProject"}
        wanted |= {"single_class_classification": True, "random_order": False, "collaborative_annotation": False}
        self.home = f"/v1/projects/{self.web.ask('POST', '/v1/projects', wanted)['id']}"
        kind = {"text": "accept", "suffix_key": "a", "background_color": "#209cee", "text_color": "#ffffff"}
        self.category = self.web.ask("POST", f"{self.home}/category-types", kind)["id"]

    def bring(self) -> None:
        """All texts, from a file that is sent, until the task is over."""
        head = f'--{self.BOUNDARY}\r\nContent-Disposition: form-data; name="filepond"'
        file = f'{head}; filename="texts.txt"\r\nContent-Type: text/plain\r\n\r\n' + "\n".join(self.texts)
        body = f"{head}\r\n\r\n{{}}\r\n{file}\r\n--{self.BOUNDARY}--\r\n".encode()
        sent = self.web.send("POST", "/v1/fp/process/", body, f"multipart/form-data; boundary={self.BOUNDARY}")
        wanted = {"format": "TextLine", "task": "DocumentClassification", "encoding": "utf_8"}
        self._finish(self.web.ask("POST", f"{self.home}/upload", wanted | {"uploadIds": [sent.decode()]}))

    def _finish(self, task: JsonObject) -> str:
        path = f"/v1/tasks/status/{task['task_id']}"
        while not (said := self.web.ask("GET", path))["ready"]:
            time.sleep(0.02)
        if said["error"]:
            raise RuntimeError(said)
        return f"{self.home}/download?taskId={task['task_id']}"

    def following(self) -> Any:
        """The first item that is not done."""
        path = f"{self.home}/examples?limit=1&offset=0&confirmed=false"
        return self.web.ask("GET", path)["results"][0]["id"]

    def label(self, item: Any) -> None:
        """One category, and the mark that the item is done."""
        self.web.ask("POST", f"{self.home}/examples/{item}/categories", {"label": self.category})
        self.web.ask("POST", f"{self.home}/examples/{item}/states", {})

    def fetch(self) -> int:
        """Everything with its labels; how many labels there are."""
        wanted = {"format": "JSONL", "exportApproved": False}
        data = self.web.send("GET", self._finish(self.web.ask("POST", f"{self.home}/download", wanted)))
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            lines = [line for name in archive.namelist() for line in archive.read(name).splitlines()]
        return sum(len(json.loads(line).get("label", ())) for line in lines)

    def end(self) -> None:
        """Take the project away."""
        self.web.send("DELETE", self.home)


class Potato:
    """Potato, whose next item is a page."""

    name, files = "Potato", False
    version = "at that address"

    def __init__(self, url: str, token: str, texts: list[str]) -> None:
        self.url, self.people = url, itertools.count(1)
        self.stored = 0

    def begin(self) -> None:
        """Another annotator."""
        self.web, self.stored, self.last = Connection(self.url, ""), 0, ""
        kind = "application/x-www-form-urlencoded"
        self.web.send("POST", "/auth", f"email=timed-{os.getpid()}-{next(self.people)}&pass=".encode(), kind)
        self.web.send("GET", "/annotate")

    def bring(self) -> None:
        """Nothing: the texts are there."""

    def following(self) -> Any:
        """Move to the next item and return its id; the page's script asks for the id by a request of its own."""
        if self.last:
            self._post("/annotate", {"action": "next_instance", "instance_id": self.last})
        self.last = self.web.ask("GET", "/api/current_instance")["instance_id"]
        return self.last

    def label(self, item: Any) -> None:
        """One label."""
        values = {"instance_id": item, "annotations": {"choice:accept": "true"}, "span_annotations": []}
        self.stored += json.loads(self._post("/updateinstance", values))["status"] == "success"

    def _post(self, path: str, body: Any) -> bytes:
        return self.web.send("POST", path, json.dumps(body).encode())

    def fetch(self) -> int:
        """Return the number of labels that the server reported as stored."""
        return self.stored

    def end(self) -> None:
        """Nothing to take away."""


Theirs = LabelStudio | Doccano | Potato
PEERS: dict[str, type[LabelStudio] | type[Doccano] | type[Potato]] = {
    "label-studio": LabelStudio,
    "doccano": Doccano,
    "potato": Potato,
}


class Ours:
    """The app."""

    files = True

    def __init__(self, server: Server, texts: list[str]) -> None:
        self.server, self.folder = server, server.database.parent
        self.file = self.folder / "texts.txt"
        self.file.write_text("\n".join(texts) + "\n", encoding="utf-8")
        self.numbers = itertools.count(1)
        self.name = ""

    def begin(self) -> None:
        """A new project with one annotator at its desk."""
        self.name = f"timed {next(self.numbers)}"
        with Store.open(self.server.database) as store:
            made = create_project(store, self.name, annotators=("Ada",), per_item=1)
            person = annotators(store, made)[0]
            token = issue(store.secret, database=store.uid, project=made.uid, annotator=person.uid)
            self.about = {"database": store.uid, "project": made.uid, "annotator": person.uid}
        self.web = Connection(self.server.url, f"Bearer {token}")
        self.done = itertools.count(1)

    def bring(self) -> None:
        """All texts, from a file."""
        with Store.open(self.server.database) as store:
            import_file(store, project(store, self.name), self.file)

    def following(self) -> Any:
        """The next item for this annotator."""
        (one,) = self.web.ask("POST", "/api/desk/sync", {"ops": [], "have": [], "want": 1})["items"]
        return one["id"]

    def label(self, item: Any) -> None:
        """One label."""
        number = next(self.done)
        made = {
            "op": f"{self.name} {number}", "item": item, "choice": "accept", "desk": "timing", "revision": number,
            "base": None, "reasons": [], "note": "", "seconds": 2.0, "form": "original", **self.about,
        }  # fmt: skip
        (answer,) = self.web.ask("POST", "/api/desk/sync", {"ops": [made], "have": [], "want": 0})["answers"]
        if answer["result"] != "acked":
            raise RuntimeError(answer)

    def fetch(self) -> int:
        """Everything with its labels; how many labels there are."""
        out = self.folder / "out.json"
        with Store.open(self.server.database) as store:
            export_file(store, project(store, self.name), out, format="label-studio")
        return sum(len(entry["annotations"]) for entry in json.loads(out.read_text(encoding="utf-8")))

    def end(self) -> None:
        """Nothing to take away: the whole database goes at the end."""


def timed(times: list[float], work: Callable[..., Any], *given: Any) -> Any:
    """Do *work* and put its seconds to *times*."""
    with (spent := Spent()).more():
        result = work(*given)
    times.append(spent.wall)
    return result


def measure(side: Theirs | Ours, labels: int, found: Times) -> None:
    """One round of one side."""
    side.begin()
    timed(found.setdefault("import", []) if side.files else [], side.bring)
    for _ in range(labels):
        item = timed(found.setdefault("next item", []), side.following)
        timed(found.setdefault("label", []), side.label, item)
    stored = timed(found.setdefault("export", []) if side.files else [], side.fetch)
    side.end()
    if stored != labels:
        raise RuntimeError(f"{stored} labels came out, {labels} went in")


def comparison(what: str, peer: str, theirs: list[float], ours: list[float]) -> str:
    """One line: both sides and the ratio of the medians."""
    ratio = statistics.median(theirs) / statistics.median(ours)
    return f"{what}: {peer} {spread(theirs)}; here {spread(ours)}; ratio of medians {ratio:.1f}"


def spread(times: list[float]) -> str:
    """Few times as min/median/max in seconds, many as p50/p95/max in milliseconds."""
    if len(times) < 20:
        return f"{min(times):.2f}/{statistics.median(times):.2f}/{max(times):.2f} s"
    p50, p95 = (1000 * percentile(times, per_cent) for per_cent in (50, 95))
    return f"p50 {p50:.1f}, p95 {p95:.1f}, max {max(times) * 1e3:.1f} ms"


def main() -> None:
    """Measure and print."""
    arguments = options(__doc__, peer=tuple(PEERS), url=str, token="", items=9_900, labels=300, rounds=3)
    if not arguments.url:
        raise SystemExit("--url is missing: where the other program answers.")
    texts = [f"第{n}天，{WORDS[n % len(WORDS)]}在河边散步。" for n in range(arguments.items)]
    with app_server() as server:
        theirs, ours = PEERS[arguments.peer](arguments.url, arguments.token, texts), Ours(server, texts)
        found: tuple[Times, Times] = ({}, {})
        print(f"{theirs.name} {theirs.version}, {arguments.items:,} items, {arguments.rounds} rounds,", end=" ")
        print(f"load average {load()}", flush=True)
        for number in range(arguments.rounds):
            sides: list[tuple[Theirs | Ours, Times]] = [(theirs, found[0]), (ours, found[1])]
            for side, times in sides if number % 2 == 0 else reversed(sides):
                measure(side, arguments.labels, times)
    for what in found[0]:
        print(comparison(what, theirs.name, found[0][what], found[1][what]))


if __name__ == "__main__":
    main()
