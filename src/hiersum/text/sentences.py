"""Rule-based sentence splitting.

A full stop ends a sentence if a space and a possible sentence start follow, unless it belongs to an
abbreviation, an initial or a German date. Full stops of other scripts always end a sentence. Not
handled: sentences that begin in lower case, and unknown abbreviations. No library we measured does
better on all languages (EXPERIMENTS.md); the networks were trained on English split by these rules.
"""

from __future__ import annotations

import re

ABBREVIATIONS = frozenset(
    """op rs cdr drs reg fol tel chap
    mr mrs ms mx dr prof st mt ft gen col maj sgt lt capt cpt cmdr adm rev hon gov sen rep pres fr
    sr sra srta mme mlle hr messrs vs v cf viz eg e.g ie i.e al et ca c approx est fig figs nos vol
    vols p pp ch sec eq eds jan feb apr jun jul aug sep sept oct nov mon tue wed thu fri b d m r
    u.n ph ave blvd rd bldg dept univ assn bros gov't
    nr mio mrd bzw vgl evtl ggf inkl dra sras núm dott sig sigg dhr mevr
    проф акад им ул пр пер тыс млн млрд рис стр тел см напр""".split()
)
# These may end a sentence or not; the next word decides.
OPEN_ABBREVIATIONS = frozenset(
    "inc ltd co corp jr etc u.s u.k a.m p.m b.c a.d ph.d d.c esq".split()
)
_STARTERS = frozenset(
    """the a an it he she they we i you this that these those in on at by for from with as after before
    when while although but and however its his her their our there one two both many some most other
    another each under since during according despite until if""".split()
)
_ALSO_WORDS = frozenset("no sun sat art mar dec ed".split())
_BEFORE_NUMBERS = frozenset(
    "pop min max abs env aprox pág págs pag янв февр авг сент окт нояб дек".split()
)
_HINDI_TITLES = ("\u0921\u0949", "\u092a\u094d\u0930\u094b")  # Dr, Prof
_CANDIDATE = re.compile(
    r"""(?<![.!?\u2026])(?P<end>[.!?\u2026\u061f\u06d4\u0964\u0965\u1362]+"""
    r"""(?:["'\u201d\u2019\u00bb)\]]|[ ]\u00bb)*)"""
    r"""(?P<space>\s+)(?=\S)"""
    r"""|(?P<wide>[\u3002\uff01\uff1f\uff61]+["'\u201d\u2019\u300d\u300f\uff09]*+)\s*(?=\S)"""
)
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*\.?"
_DATE = rf"(?:{_MONTH}[ ]\d{{1,2}}|\d{{1,2}}[ ]{_MONTH})"
_AGENCY = r"\([A-Za-z][A-Za-z/.]{1,11}(?:[ ][A-Z][A-Za-z]{1,11}){0,2}\)"
_PLACE = r"(?:[A-Z][\w.'\u2019-]*[ ,]{1,2}){0,5}"
_LABEL = re.compile(
    rf"""(?:{_PLACE}(?:{_DATE}[ ,]{{0,2}})?{_AGENCY}(?:[ ,]{{1,2}}{_DATE})?|{_PLACE}{_DATE})"""
    r"""(?:[ ]--?[ ]|[ ]?[\u2013\u2014][ ]?)(?=["'\u201c]?[A-Z\d])(?!.*[ ][-\u2013\u2014]{1,2}[ ])"""
    r"""|\d{1,2}(?:\.\d{1,2})+\.?[ ]+(?=(?:The|An?|This|These|All|No|Each|Any|It)[ ])"""
    r"""|\d{1,2}(?:\)[ ]+|\.[ ]+(?=[a-z]))"""
)
_CAN_BEGIN = re.compile(r"""["'\u201c\u201e\u2018\u00ab(\[\u00bf\u00a1-]*([^\W_])""")
_ORDINAL = re.compile(r"\d{1,2}")
_AFTER_ORDINAL = re.compile(
    r"(?:Jänner|Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
    r"|Jahrhunderts?|Jh)\b"
)
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")  # J. or J.R.R. without its last stop
_LAST_WORD = re.compile(r"[^\W_][\w.'\u2019-]*$")
_NEXT_WORD = re.compile(r"[\w']+")
_FINAL = re.compile(
    r"""[.!?\u2026\u3002\uff01\uff1f\uff61\u061f\u06d4\u0964\u0965\u1362]["'\u201d\u2019\u00bb)\]\u300d\u300f\uff09]*$"""
)


def split_sentences(text: str) -> list[str]:
    """Return the stripped sentences of a text; without any sentence end, it is one sentence.

    For a paragraph that was read, use `Paragraph.sentences`.
    """
    sentences = []
    start = 0
    for match in _CANDIDATE.finditer(text):
        if match["wide"] is None and not _is_boundary(text, match):
            continue
        sentences.append(text[start : match.end()].strip())
        start = match.end()
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]


def without_label(sentence: str) -> str:
    """Remove a report's dateline ("LONDON (Reuters) - ") or a sentence number."""
    label = _LABEL.match(sentence)
    return sentence[label.end() :] if label else sentence


def ends_sentence(text: str) -> bool:
    """Whether the text ends like a sentence."""
    return _FINAL.search(text[-8:].rstrip()) is not None


def _is_boundary(text: str, match: re.Match[str]) -> bool:
    following = text[match.end() : match.end() + 40]
    beginning = _CAN_BEGIN.match(following)
    if beginning is None or beginning[1].islower():
        return False
    if match["end"] != ".":  # "?!", "...", or a stop with a closing quote: no abbreviation
        return True
    before = _LAST_WORD.search(text, max(0, match.start() - 30), match.start())
    if before is None:  # also after vowel signs, which are no letters to Python
        return not text.endswith(_HINDI_TITLES, 0, match.start())
    word = before[0].lower()
    if _ORDINAL.fullmatch(word) and _AFTER_ORDINAL.match(following):  # "zum 31. Dezember"
        return False
    next_word = _NEXT_WORD.search(following)
    starts_anew = next_word is not None and next_word[0].lower() in _STARTERS
    if word in OPEN_ABBREVIATIONS:
        return starts_anew
    if _INITIALS.fullmatch(word):  # "J. Smith", "J.R.R. Tolkien", but "Vitamin C. The ..."
        return starts_anew and word != "i"
    if (word in _BEFORE_NUMBERS or word.endswith("str")) and following[0].isdigit():
        return False  # "pop. 340", "Hauptstr. 12"
    if (
        re.split("[-'\u2019]", word)[-1] in _ALSO_WORDS
    ):  # "No. 5", "Fig. 3", but "He said no. Then ..."
        return not following[0].isdigit() and (starts_anew or word == "no")
    return word not in ABBREVIATIONS
