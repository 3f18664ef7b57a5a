"""UTF-8, GB18030 or Big5: told apart on a corpus file in which some bytes may be damaged.

Strict decoding cannot tell GB18030 from Big5: nearly every Big5 text is valid
GB18030, as other characters. So both are decoded and the share of common
characters decides: real Chinese text consists of them by a third or more,
the same bytes read in the wrong encoding by a few per cent.
"""

from collections.abc import Iterable
from typing import Literal

import numpy as np

from evenhand.core.errors import N_, BadFile
from evenhand.core.text.sentences import refuse_noise, refuse_signature

Encoding = Literal["utf-8", "gb18030", "big5hkscs"]

EVIDENCE = 4 << 20  # bytes beyond ASCII that decide; a file with fewer is looked at wholly
DAMAGE = 0.1  # share of damaged characters up to which UTF-8 is UTF-8
LEAST_COMMON = 0.08  # share of common characters below which a text is none of the three
FEW = 40  # characters below which that share says nothing

COMMON = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家"
    "种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民"
    "第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话"
    "這個們來為國說時會對過發後裡種經麼學現當沒動進樣開從實軍無與長機關點業將兩間問應戰頭體見產話著於裏還電車書報馬"
    "男女爸妈父母兒兄姐妹爷奶叔姨夫妻孩媽爺親，。、：；？！“”「」『』（）《》—…·　"
)


def encoding_of_corpus(chunks: Iterable[bytes], name: str) -> Encoding:
    """The encoding of a file from its *chunks* (read until EVIDENCE bytes beyond ASCII were seen).

    Raises BadFile where the bytes are no text, or in none of the three encodings.
    """
    sample, beyond = [], 0
    for number, chunk in enumerate(chunks):
        if number == 0:
            refuse_signature(chunk, name)
        if b"\0" in chunk:
            raise BadFile(N_("{file} is not a text file: it contains NUL bytes (binary data or UTF-16)."), file=name)
        if number == 0:
            refuse_noise(chunk[:4096].decode("latin-1").replace("\x85", ""), name)
        if chunk.isascii():
            continue
        sample.append(chunk)
        beyond += int(np.count_nonzero(np.frombuffer(chunk, dtype=np.uint8) > 127))
        if beyond >= EVIDENCE:
            break
    return decide(b"".join(sample), name)


def decide(data: bytes, name: str) -> Encoding:
    """Which of the three encodings *data* is in; pure ASCII is UTF-8. Raises BadFile where none fits."""
    try:
        data.decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError:
        pass
    text = data.decode("utf-8", "replace")
    wide = sum(character > "\x7f" for character in text)
    broken = text.count("\ufffd") - data.count(b"\xef\xbf\xbd")
    if broken <= DAMAGE * wide:
        return "utf-8"
    shares: dict[Encoding, float] = {one: _common(data, one) for one in ("gb18030", "big5hkscs")}
    best: Encoding = max(shares, key=lambda one: shares[one])
    if shares[best] < LEAST_COMMON and not (wide < FEW and _strict(data, "gb18030")):
        message = N_("{file} is not UTF-8, GB18030 or Big5 text. Save it as UTF-8 and try again.")
        raise BadFile(message, file=name)
    return best


def _common(data: bytes, encoding: Encoding) -> float:
    """The share of common characters among those beyond ASCII that *encoding* makes of *data*."""
    wide = [character for character in data.decode(encoding, "replace") if character > "\x7f"]
    return sum(character in COMMON for character in wide) / len(wide) if wide else 0.0


def _strict(data: bytes, encoding: Encoding) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
