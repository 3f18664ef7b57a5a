// What is typed but not yet decided outlives a reload and a look at another page: one entry of this tab's session
// storage, which ends with the tab and which no other tab sees. It holds the note and the tags, never the sentence.

const TYPED = "evenhand:typed:";

function keepTyped(desk) {
  const { draft, screen, queue, editing } = desk;
  if (!screen.item || editing) return; // an earlier decision is not on screen after a reload
  const half = desk.view.tags.finished();
  try {
    if (draft.note.trim() || half.length) {
      const typed = { item: screen.item.id, note: draft.note, tags: half };
      sessionStorage.setItem(TYPED + queue.outbox.owner, JSON.stringify(typed));
    } else sessionStorage.removeItem(TYPED + queue.outbox.owner);
  } catch {
    // storage is switched off: as before, it is gone
  }
}

// For this item, once: what comes back belongs to the desk again. What was taken back has a note and tags of its own.
function takeTyped(desk, item) {
  const typed = forgetTyped(desk, item);
  if (!typed || item.before) return;
  desk.draft.note = typed.note;
  desk.draft.tags = typed.tags;
}

// What was kept for this item, or null; it is kept no more. A decision makes it void: a browser may keep a page that
// was left, and show it again with all that is on it.
function forgetTyped(desk, item) {
  const key = TYPED + desk.queue.outbox.owner;
  try {
    const typed = JSON.parse(sessionStorage.getItem(key));
    if (typed?.item !== item?.id) return null;
    sessionStorage.removeItem(key);
    return typed;
  } catch {
    return null; // nothing that could be read
  }
}
