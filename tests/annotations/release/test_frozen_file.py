"""Files of a release as they are written."""

from concurrent.futures import ThreadPoolExecutor

from evenhand.annotations.release.stored_releases import MOST_GIVEN, PACKED_AT_ONCE, freeze


def test_packing_in_a_thread_gives_equal_bytes():
    lines = [f"{number} 他把信交给了老师。\n" * 40 for number in range((MOST_GIVEN + 4) * PACKED_AT_ONCE // 600)]
    here = freeze("a.txt", lines)
    with ThreadPoolExecutor(1) as beside:
        there = freeze("a.txt", iter(lines), beside)
    assert there == here and here.size == len("".join(lines).encode())
    assert there.content().decode() == "".join(lines)
