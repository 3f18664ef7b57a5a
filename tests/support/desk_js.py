"""The desk's JavaScript, run by Node without a browser."""

import json
import subprocess
from pathlib import Path
from typing import Any

from playwright._impl._driver import compute_driver_executable

from evenhand.annotations.desk import frontend

# A server that gives the prepared replies, one a request: a status with a sentence, or answers to the sent operations.
STAGE = """
const kept = new Map();
globalThis.localStorage = new Proxy({
  getItem: (key) => kept.get(key) ?? null,
  setItem: (key, value) => void kept.set(key, value),
  removeItem: (key) => void kept.delete(key),
}, { ownKeys: () => [...kept.keys()], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) });
const owner = { database: "d", project: "p", annotator: "a" };
const sent = [];
const replies = [];
Server.prototype.post = async function (path, body) {
  sent.push(structuredClone(body));
  const reply = replies.shift() ?? {};
  if (reply.status >= 500) throw new Unreachable("later");
  if (reply.status) throw new Denied(reply.status, "No.");
  const acked = (op) => ({ op: op.op, result: "acked", conflict: false, latest: op.op, ...reply[op.item] });
  if (path === "heartbeat") return reply;
  const answers = body.ops.map(acked);
  return { answers, items: reply.items ?? [], left: reply.left, history: body.hello ? [] : undefined };
};
Queue.prototype.later = function (delay) { this.delay = delay; };
const open = () => {
  const data = { database: "d", project: { uid: "p" }, annotator: { uid: "a" }, guideline: { version: 1 } };
  return new Queue({ ...data, api: "", token: "", language: "en" }, () => {});
};
const items = (count) => Array.from({ length: count }, (_, n) => ({ id: `i${n}`, text: "t" }));
const keep = (...ops) => ops.forEach((op) => kept.set(`evenhand:op:d:p:a:${op.op}`, JSON.stringify(op)));
const tell = (found) => console.log(JSON.stringify(found));
"""


def run(scene: str, *more: str) -> Any:
    """Play a scene with the desk's own scripts and return its result; `more`: scripts in addition to the queue's."""
    folder = Path(frontend.__file__).parent / "static"
    scripts = [(folder / f"{name}.js").read_text(encoding="utf-8") for name in ("outbox", "server", "queue", *more)]
    node = compute_driver_executable()[0]  # comes with the browser driver
    done = subprocess.run(
        [node, "--input-type=module", "-"],
        input="\n".join([*scripts, STAGE, scene]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
