"""Comments: a thread is between one annotator and the lead, the discussion is open to all annotators."""

import pytest

from evenhand.annotations.adjudication.decisions import add_comment, comments, every_comment
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch
from evenhand.annotations.projects.projects import annotators
from evenhand.core.errors import NotAllowed, NotFound, Refused
from tests.support.judged_sentences import judged
from tests.support.projects import new_items


def test_a_thread_opens_before_labels_and_is_private(fresh_store: Store) -> None:
    made, items = judged(fresh_store, ["a"])
    ada, bo, _chen = annotators(fresh_store, made)
    uid = items[0].uid
    with pytest.raises(NotAllowed, match=r"Comments open once all annotators have labelled this item\."):
        add_comment(fresh_store, made, uid, "What do you think?", author="Lead")
    add_comment(fresh_store, made, uid, "Why?", author="Lead", thread=ada)
    add_comment(fresh_store, made, uid, "Because.", author=ada.name, annotator=ada, thread=ada)
    add_comment(fresh_store, made, uid, "And you?", author="Lead", thread=bo)
    assert [
        (comment.author, comment.text, comment.thread) for comment in comments(fresh_store, made, uid, thread=ada)
    ] == [
        ("Lead", "Why?", ada.uid),
        ("Ada", "Because.", ada.uid),
    ]
    assert [comment.text for comment in comments(fresh_store, made, uid, thread=bo)] == ["And you?"]
    assert comments(fresh_store, made, uid) == []
    assert [comment.text for comment in every_comment(fresh_store, made, uid)] == ["Why?", "Because.", "And you?"]


def test_writing_in_the_thread_of_another_annotator_is_refused(fresh_store: Store) -> None:
    made, items = judged(fresh_store, ["aar"])
    ada, bo, _chen = annotators(fresh_store, made)
    with pytest.raises(NotAllowed, match="one annotator and the lead"):
        add_comment(fresh_store, made, items[0].uid, "Hello", author=bo.name, annotator=bo, thread=ada)
    assert every_comment(fresh_store, made, items[0].uid) == []


def test_the_discussion_excludes_private_threads(fresh_store: Store) -> None:
    made, items = judged(fresh_store, ["aar"])
    ada, *_others = annotators(fresh_store, made)
    add_comment(fresh_store, made, items[0].uid, "For all.", author="Lead")
    add_comment(fresh_store, made, items[0].uid, "For you.", author="Lead", thread=ada)
    assert [comment.text for comment in comments(fresh_store, made, items[0].uid)] == ["For all."]


def test_a_repeated_comment_operation_is_stored_once(fresh_store: Store) -> None:
    made, items = judged(fresh_store, ["a"])
    ada, *_others = annotators(fresh_store, made)
    for _time in range(2):
        add_comment(fresh_store, made, items[0].uid, "Why?", author="Lead", thread=ada, op_id="c1")
    assert len(every_comment(fresh_store, made, items[0].uid)) == 1


@pytest.mark.parametrize(("text", "error"), [("  ", Refused), ("x" * 4001, Refused), ("a\x00b", Refused)])
def test_empty_too_long_and_binary_comments_are_refused(text: str, error: type[Exception], fresh_store: Store) -> None:
    made, items = judged(fresh_store, ["a"])
    with pytest.raises(error):
        add_comment(fresh_store, made, items[0].uid, text, author="Lead", thread=annotators(fresh_store, made)[0])


def test_a_comment_on_an_unknown_item_is_refused(fresh_store: Store) -> None:
    made, _items = judged(fresh_store, ["a"])
    with pytest.raises(NotFound):
        add_comment(fresh_store, made, "nowhere", "Why?", author="Lead", thread=annotators(fresh_store, made)[0])


def test_an_unpublished_item_takes_no_comment(fresh_store: Store) -> None:
    made, _items = judged(fresh_store, ["a"])
    ada, *_others = annotators(fresh_store, made)
    more = Batch.begin(fresh_store, made, "more.txt")
    more.add(new_items(1, first=900))
    (uid,) = fresh_store.db.execute("SELECT uid FROM item WHERE batch = ?", (more.id,)).fetchone()
    with pytest.raises(NotFound):
        add_comment(fresh_store, made, uid, "Why?", author="Lead", thread=ada)
    more.discard()  # before, it could not be removed, and no file came into the project any more
    Batch.begin(fresh_store, made, "next.txt").discard()
    assert fresh_store.db.execute("SELECT count(*) FROM batch").fetchone() == (1,)
