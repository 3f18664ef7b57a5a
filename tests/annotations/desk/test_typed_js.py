"""What is typed and not yet decided: kept when the page is left, given back once, void once the item is decided."""

import pytest

from tests.support.desk_js import run

# A desk without a page: what is on screen, what is drafted, and a tab that remembers.
SCENE = """
const tab = new Map();
globalThis.sessionStorage = {
  getItem: (key) => tab.get(key) ?? null,
  setItem: (key, value) => { if (globalThis.full) throw new Error("full"); tab.set(key, value); },
  removeItem: (key) => void tab.delete(key),
};
const at = (annotator = "a") => {
  const desk = Object.create(Desk.prototype);
  const queue = { outbox: { owner: `d:p:${annotator}:` }, decide: () => ({ choice: "skip" }) };
  Object.assign(queue, { maySkip: true, once: new Set() });
  const view = { tags: { finished: () => [...desk.draft.tags] }, say: () => {} };
  Object.assign(desk, { queue, view, editing: null, mode: "label", draft: {}, t: (text) => text });
  Object.assign(desk, { draw: () => {}, labelOf: () => "", details: () => ({}) });
  Object.defineProperty(desk, "form", { value: "masked" });
  return desk;
};
const show = (desk, item) => {
  desk.screen = { item, at: 0 };
  desk.begin(item);
  return [desk.draft.note, desk.draft.tags.join()];
};
const type = (desk, note, ...tags) => Object.assign(desk.draft, { note, tags });
const one = { id: "one" };
const two = { id: "two" };
"""


def result_of(scene: str) -> object:
    return run(f"{SCENE}\n{scene}", "panels", "typed", "desk")


def test_a_typed_note_is_restored_once_to_its_item_and_annotator() -> None:
    assert result_of("""
      const desk = at();
      show(desk, one);
      type(desk, "half a note", "kin");
      keepTyped(desk);
      const [other, later, again] = [at("b"), at(), at()];
      tell([show(other, one), show(later, two), show(later, one), tab.size, show(again, one)]);
    """) == [["", ""], ["", ""], ["half a note", "kin"], 0, ["", ""]]


@pytest.mark.parametrize("decided", ['desk.store(one, "accept", [])', "desk.skip(1)"], ids=["stored", "skipped"])
def test_a_reopened_page_drops_notes_of_decided_items(decided: str) -> None:
    assert result_of(f"""
      const desk = at();
      show(desk, one);
      type(desk, "left as it was", "old");
      keepTyped(desk); // the page is left, and the browser shows it again as it was
      type(desk, "changed", "new");
      {decided};
      tell([tab.size, show(desk, one)]);
    """) == [0, ["", ""]]


def test_an_undone_label_restores_its_stored_note() -> None:
    assert result_of("""
      const desk = at();
      show(desk, one);
      type(desk, "typed here");
      keepTyped(desk);
      const before = { note: "decided in another tab", tags: ["b"], reasons: [] }; // and taken back in this one
      tell([show(at(), { ...one, before }), tab.size]);
    """) == [["decided in another tab", "b"], 0]


def test_empty_notes_and_a_failing_storage_are_ignored() -> None:
    assert result_of("""
      const desk = at();
      show(desk, one);
      type(desk, "kept");
      keepTyped(desk);
      type(desk, " ");
      keepTyped(desk);
      const none = tab.size;
      globalThis.full = true;
      type(desk, "no room");
      keepTyped(desk);
      tab.set("evenhand:typed:d:p:a:", "no JSON");
      tell([none, show(at(), one)]);
    """) == [0, ["", ""]]
