"""The desk's queue and outbox alone, without a page: what is sent, what is kept, and what a refusal changes."""

import json
from typing import Any

import pytest

from tests.support.desk_js import run


@pytest.mark.parametrize(
    ("status", "state"),
    [(400, "away"), (404, "away"), (413, "away"), (500, "away"), (503, "away"), (401, "signed_out"), (403, "closed")],
)
def test_each_status_sets_the_state_of_the_queue(status: int, state: str) -> None:
    result = run(f"""
      replies.push({{ status: {status} }});
      const queue = open();
      await queue.flush();
      const before = queue.state;
      await queue.flush();
      tell({{ before, sent: sent.length, after: queue.state, delay: queue.delay ?? null }});
    """)
    assert result["before"] == state
    if state == "away":
        assert (result["sent"], result["after"]) == (2, "here") and result["delay"] > 0
    else:
        assert (result["sent"], result["after"], result["delay"]) == (1, state, None)


@pytest.mark.parametrize("status", [400, 413])
def test_a_rejected_decision_does_not_block_others(status: int) -> None:
    result = run(f"""
      const queue = open();
      queue.greeted = true;
      queue.items = items(40);
      queue.busy = true;
      for (const item of items(3)) queue.decide(item, "accept", {{}});
      queue.busy = false;
      replies.push({{ status: {status} }}, {{}}, {{ status: {status} }}, {{}}, {{ items: items(9) }});
      for (let n = 0; n < 5; n += 1) await queue.flush();
      const refused = queue.outbox.refused.map((one) => one.item);
      tell({{ sent: sent.map((one) => one.ops.length), refused, left: queue.outbox.size, alone: queue.alone }});
    """)
    assert result == {"sent": [3, 1, 1, 1], "refused": ["i1"], "left": 0, "alone": False}


def test_an_annotator_who_left_gets_no_items_until_the_return() -> None:
    """Decisions made before are still sent; prefetched items are dropped, since others have them."""
    result = run("""
      const queue = open();
      queue.greeted = true;
      queue.items = items(40);
      replies.push({ left: true }, { left: true }, { left: false, items: items(2) });
      queue.decide(queue.items[0], "accept", {});
      await new Promise((done) => setTimeout(done, 0));
      const first = [queue.left, queue.items.length, queue.outbox.size, queue.delay > 0];
      await queue.flush();
      const second = [queue.left, queue.items.length, sent.at(-1).want > 0];
      await queue.flush();
      tell({ first, second, back: [queue.left, queue.items.length] });
    """)
    assert result == {"first": [True, 0, 0, True], "second": [True, 0, True], "back": [False, 2]}


def test_a_heartbeat_reports_that_another_annotator_has_the_desk() -> None:
    result = run("""
      const queue = open();
      queue.greeted = true;
      queue.state = "here";
      queue.items = items(40);
      let drawn = 0;
      queue.changed = () => { drawn += 1; };
      const seen = () => [queue.left, queue.items.length, drawn, sent.length];
      replies.push({ left: false }, { left: true }, { left: true }, { left: false }, { left: false, items: items(2) });
      const found = [];
      for (let beat = 0; beat < 4; beat += 1) {
        queue.lastContact = 0;
        await queue.heartbeat();
        await new Promise((done) => setTimeout(done, 0));
        found.push(seen());
      }
      tell(found);
    """)
    # No change; the place belongs to another annotator, and still does; it is given back, and there is work again.
    assert result == [[False, 40, 0, 1], [True, 0, 1, 2], [True, 0, 1, 3], [False, 2, 3, 5]]


def test_a_newer_guideline_stops_the_desk_and_refetches_items() -> None:
    """Earlier decisions keep their version; a heartbeat alone is enough to learn of the new one."""
    result = run("""
      const next = { guideline: { version: 2, blocks: [] }, choices: [], reasons: [], changes: [] };
      Server.prototype.post = async function (path, body) {
        sent.push({ path, version: body.version, ops: (body.ops ?? []).map((op) => op.guideline) });
        if (path === "heartbeat") return { guideline: 2 };
        const answers = body.ops.map((op) => ({ op: op.op, result: "acked", latest: op.op }));
        const newer = body.version < 2 ? next : null;
        return { answers, items: body.want ? items(3) : [], guideline: 2, next: newer, news: [] };
      };
      const queue = open();
      queue.greeted = true;
      queue.state = "here";
      queue.items = items(40);
      queue.busy = true;
      queue.decide(queue.items[0], "accept", {});
      queue.busy = false;
      await queue.heartbeat();
      await new Promise((done) => setTimeout(done, 0));
      const stopped = [queue.unread, queue.items.length, queue.version, queue.delay];
      await queue.flush();
      const ready = [queue.items.length, queue.unread];
      queue.take([]);
      await new Promise((done) => setTimeout(done, 0));
      queue.decide(queue.items[0], "accept", {});
      await new Promise((done) => setTimeout(done, 0));
      tell({ stopped, ready, after: [queue.unread, queue.version], sent });
    """)
    assert result["stopped"] == [True, 0, 1, 0] and result["ready"] == [3, True] and result["after"] == [False, 2]
    assert [(request["path"], request.get("version"), request["ops"]) for request in result["sent"]] == [
        ("heartbeat", None, []), ("sync", 1, [1]), ("sync", 2, []), ("sync", 2, []), ("sync", 2, [2]),
    ]  # fmt: skip


OPS = {
    "revision before clock": [("x1", 1, None, 900, "one"), ("x2", 2, "x1", 100, "one")],
    "base before clock": [("y1", 1, None, 900, "one"), ("y2", 1, "y1", 100, "two"), ("y3", 2, "y2", 50, "two")],
}


@pytest.mark.parametrize("made", OPS.values(), ids=OPS)
def test_setting_the_clock_back_changes_no_order(made: list[tuple[Any, ...]]) -> None:
    names = ("op", "revision", "base", "made", "desk")
    ops = [dict(zip(names, values, strict=True)) | {"item": "i0", "choice": "accept"} for values in made]
    scene = f"keep(...{json.dumps(ops[::-1])}); const queue = open(); await queue.flush();"
    result = run(scene + "tell(sent[0].ops.map((op) => op.op));")
    assert result == [op["op"] for op in ops]


def test_a_refused_operation_is_not_used_as_a_base() -> None:
    result = run("""
      const queue = open();
      queue.greeted = true;
      queue.items = items(40);
      const [item] = queue.items;
      queue.latest.set("i0", "w");
      replies.push({ i0: { result: "refused", reason: "No.", latest: "w" } });
      const first = queue.decide(item, "accept", {});
      queue.decide(item, "reject", {});
      const second = [...queue.outbox.ops.keys()].at(-1);
      await new Promise((done) => setTimeout(done, 0));
      const bases = Object.values(Object.fromEntries(kept)).map((one) => JSON.parse(one));
      const stored = bases.find((one) => one.op === second).base;
      tell({ base: queue.outbox.ops.get(second).base, stored, latest: queue.latest.get("i0") === second });
    """)
    assert result == {"base": "w", "stored": "w", "latest": True}


def test_held_items_are_sent_only_with_a_request_for_more() -> None:
    result = run("""
      const queue = open();
      queue.greeted = true;
      queue.items = items(500); // so many were undone
      queue.decide(queue.items[0], "accept", {});
      queue.items = items(3);
      await new Promise((done) => setTimeout(done, 0));
      await queue.flush();
      tell(sent.map((one) => [one.have.length, one.want]));
    """)
    assert result == [[0, 0], [3, 37]]


SAME_KEYS = """
const reasons = [{ code: "first", key: "" }, { code: "second", key: "" }, { code: "third", key: "3" }];
const desk = Object.create(Desk.prototype);
const draft = { reasons: new Set() };
Object.assign(desk, { data: { reasons }, mode: "reject", draft, draw() {}, pause: new Pause() });
desk.queue = { unread: false };
Object.assign(desk.data, { words: {} });
desk.view = { say() {} };
for (const action of ACTIONS) desk.act(action, 0);
tell([...desk.draft.reasons]);
"""


@pytest.mark.parametrize(
    ("action", "chosen"),
    [({"code": "second"}, ["second"]), ({"code": "first"}, ["first"]), ({"key": "3"}, ["third"]), ({"key": "7"}, [])],
)
def test_click_and_key_choose_the_intended_reason(action: dict[str, str], chosen: list[str]) -> None:
    scene = f"const ACTIONS = {json.dumps([{'name': 'reason', **action}])};{SAME_KEYS}"
    assert run(scene, "clock", "news", "veil", "desk") == chosen


@pytest.mark.parametrize(("code", "choice"), [("Digit2", "misgendering"), ("KeyJ", "accept"), ("Digit9", None)])
def test_letter_and_digit_keys_select_their_choice(code: str, choice: str | None) -> None:
    choices = [{"code": "accept", "key": "j"}, {"code": "misgendering", "key": "2"}]
    event = {"code": code, "key": "", "shiftKey": False}
    scene = f"tell(actionOf({json.dumps(event)}, 'label', {json.dumps(choices)})?.code ?? null);"
    assert run(scene, "keys") == choice


@pytest.mark.parametrize("left", ["queue.stopped = true", "desk.showOpinion = false"], ids=["left", "switched off"])
def test_no_opinion_is_requested_that_would_not_be_shown(left: str) -> None:
    """The server records that it was shown."""
    result = run(
        f"""
        let turns = 0;
        let asked = 0;
        const op = {{ op: "one", choice: "accept" }};
        const queue = open();
        queue.outbox.ops.set(op.op, op);
        queue.latest.set("i0", op.op);
        const desk = {{ queue, showOpinion: true, request: async () => void (asked += 1) }};
        globalThis.setTimeout = (then) => {{
          turns += 1;
          if (turns === 60) {{ {left}; }}
          if (turns === 70) queue.outbox.ops.delete(op.op);
          queueMicrotask(then);
        }};
        await askOpinion(desk, {{ id: "i0" }}, op);
        tell({{ asked, stopped: queue.stopped ? turns : null }});
        """,
        "panels",
    )
    assert result == {"asked": 0, "stopped": 60 if "stopped" in left else None}
