"""Small edits that make a true sentence false, and a few that keep it true.

Each edit takes a sentence and returns another, or None where it does not apply. They are rules for
English, made to be right most of the time; a few percent of the false ones are still true.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from hiersum.text.facts import Fact, find_facts
from hiersum.text.words import FUNCTION_WORDS, content_stems

_AUXILIARY = r"(?:is|was|are|were|has|have|had|can|could|will|would|should|does|did|do)"
_FIRST_VERB = re.compile(
    rf"\s(?:{_AUXILIARY}|may|might|must|became|began|made|took|won|led|said|wrote|found|held|gave|"
    r"includes?|contains?|[a-z]{3,}(?:ed|es))\s"
)
_NEGATED = re.compile(rf"\b({_AUXILIARY})\s+(not|never)\b|\b({_AUXILIARY})n['’]t\b|\b(cannot)\b")
_PLAIN_AUXILIARY = re.compile(rf"\b{_AUXILIARY}\b(?!\s+(?:not|never|no)\b)")
_OPPOSITES = """increase/decrease increased/decreased increases/decreases increasing/decreasing rise/fall
    rose/fell rises/falls rising/falling higher/lower high/low more/less most/least larger/smaller
    largest/smallest large/small greater/smaller longer/shorter long/short before/after first/last
    early/late earlier/later earliest/latest older/younger oldest/youngest won/lost win/lose wins/loses
    north/south northern/southern east/west eastern/western left/right above/below inside/outside
    began/ended begin/end begins/ends opened/closed open/closed accepted/rejected approved/rejected
    supported/opposed support/oppose supports/opposes agreed/refused allowed/banned allows/prevents
    helped/hindered success/failure successful/unsuccessful succeeded/failed succeed/fail
    improved/worsened improves/worsens improve/worsen strong/weak stronger/weaker strongest/weakest
    fast/slow faster/slower
    hot/cold warm/cool good/bad better/worse best/worst positive/negative public/private same/different
    common/rare male/female father/son mother/daughter brother/sister husband/wife parents/children
    teacher/student buyer/seller bought/sold buy/sell import/export imported/exported predator/prey
    cause/result arrived/left gained/lost built/destroyed born/killed appointed/dismissed married/divorced
    joined/left founded/dissolved present/absent active/inactive legal/illegal possible/impossible
    necessary/unnecessary able/unable likely/unlikely known/unknown always/never everyone/nobody
    with/without including/excluding over/under up/down increase/drop maximum/minimum major/minor
    praised/criticized liked/disliked easy/difficult cheap/expensive expensive/affordable clean/dirty
    friendly/rude quiet/noisy modern/ancient rich/poor upper/lower internal/external input/output
    teaches/studies taught/studied attacked/defended defeated/joined son/brother wife/sister
    caused/prevented causes/prevents reduces/increases reduced/increased reduce/increase""".split()
_OPPOSITE = {
    word: other
    for pair in _OPPOSITES
    for word, other in (pair.split("/"), reversed(pair.split("/")))
}
_ROUGHLY = r"\b(?:about|around|approximately|nearly|almost|roughly|up to|at least)(?=\s+\d)"
_STRONGER = [
    (re.compile(pattern, re.IGNORECASE), options)
    for pattern, *options in (
        (r"\b(?:some|many|most|several|few|certain)\b(?!\s+of)", "all"),
        (r"\b(?:some|many|most|several|few|part) of\b", "all of", "none of"),
        (r"\b(?:may|might|could)\b", "will", "must"),
        (r"\b(?:often|sometimes|usually|generally|typically|mostly|largely)\b", "always", "never"),
        (_ROUGHLY, "exactly", "more than"),
        (r"\bone of the\b", "the only"),
        (r"\b(?:planned|wanted|hoped|tried|proposed|intended) to\b", "managed to", "refused to"),
        (r"\b(?:partly|partially)\b", "entirely"),
        (r"\b(?:is|are) (?:thought|believed|said|considered) to\b", "is proven to"),
    )
]
_PRONOUNS = frozenset("he she it they this that these those who which there we i you".split())
_ASIDE = re.compile(r"\s*\([^()]{3,}\)")
_RELATIVE = re.compile(r",\s+(?:which|who|whose|where)\s[^,;()]{8,}(?:,(?=\s)|(?=\.$))")
_TAIL = re.compile(
    r",\s+(?:[a-z]+ing|which|who|where|although|because|while|with|after|as)\s[^;()]{8,}(?=\.$)"
)
_LEAD = re.compile(
    r"^(?:In|On|At|By|After|During|As|However|Although|For|From|While|When)\b[^,;()]{0,60},\s+(\w)"
)
_AND_TAIL = re.compile(
    r",?\s+(?:and|but)\s+(?:[a-z]+ed|is|was|has|had|were|are|then|also)\s[^;()]{8,}(?=\.$)"
)


def replace_fact(
    sentence: str, others: Sequence[Fact], kinds: frozenset[str], rng: random.Random
) -> str | None:
    """Replace a name, number or date by another of the same kind that the sentence does not have."""
    facts = [fact for fact in find_facts(sentence) if fact.kind in kinds]
    rng.shuffle(facts)
    mine = set(content_stems(sentence))
    for fact in facts:
        options = [o for o in others if _may_replace(fact, o, mine)]
        if options:
            new = rng.choice(options).text
        elif fact.kind != "name" and (moved := _moved_digits(fact.text, rng)):
            new = moved
        else:
            continue
        return sentence[: fact.start] + new + sentence[fact.end :]
    return None


def _may_replace(fact: Fact, other: Fact, mine: set[str]) -> bool:
    if other.kind != fact.kind or other.value == fact.value:
        return False
    if fact.kind == "name":
        return not mine.intersection(content_stems(other.text)) and len(other.text) > 2
    same_length = len(fact.text) == len(other.text)
    return (
        same_length or fact.kind == "date" or len(fact.value) < 4
    ) and other.text not in fact.text


def _moved_digits(text: str, rng: random.Random) -> str | None:
    places = [place for place, letter in enumerate(text) if letter.isdigit()]
    if not places:
        return None
    place = rng.choice(places)
    digit = rng.choice([d for d in "123456789" if d != text[place]])
    return text[:place] + digit + text[place + 1 :]


def swap_facts(sentence: str, rng: random.Random) -> str | None:
    """Let two names, or two numbers, change places."""
    facts = find_facts(sentence)
    pairs = [
        (a, b)
        for place, a in enumerate(facts)
        for b in facts[place + 1 :]
        if a.kind == b.kind
        and a.value != b.value
        and a.end < b.start
        and not re.fullmatch(r"[\s,]*(?:and|or|&)?[\s,]*", sentence[a.end : b.start])
    ]
    if not pairs:
        return None
    a, b = rng.choice(pairs)
    return sentence[: a.start] + b.text + sentence[a.end : b.start] + a.text + sentence[b.end :]


def negate(sentence: str, rng: random.Random) -> str | None:
    """Take a negation out, or put one in."""
    if match := _NEGATED.search(sentence):
        plain = match[1] or match[3] or "can"
        return sentence[: match.start()] + plain + sentence[match.end() :]
    found = list(_PLAIN_AUXILIARY.finditer(sentence))
    if not found:
        return None
    match = found[0] if rng.random() < 0.7 else rng.choice(found)
    word = "not" if rng.random() < 0.8 else "never"
    return f"{sentence[: match.end()]} {word}{sentence[match.end() :]}"


def reverse_relation(sentence: str, rng: random.Random) -> str | None:
    """Replace a word by its opposite."""
    found = [m for m in re.finditer(r"[A-Za-z]+", sentence) if m[0] in _OPPOSITE]
    if not found:
        return None
    match = rng.choice(found)
    return sentence[: match.start()] + _OPPOSITE[match[0]] + sentence[match.end() :]


def drop_hedge(sentence: str, rng: random.Random) -> str | None:
    """Turn some into all, may into will, often into always."""
    found = [(m, new) for pattern, new in _STRONGER for m in pattern.finditer(sentence)]
    if not found:
        return None
    match, options = rng.choice(found)
    new = rng.choice(options)
    if match[0][0].isupper():
        new = new[0].upper() + new[1:]
    return sentence[: match.start()] + new + sentence[match.end() :]


def subject_of(sentence: str) -> tuple[str, str] | None:
    """Split a sentence before its first verb, if what stands before it looks like a subject."""
    match = _FIRST_VERB.search(sentence)
    if match is None:
        return None
    subject = sentence[: match.start()]
    words = subject.split()
    if (
        not 1 <= len(words) <= 9
        or "," in subject
        or words[0] in {"In", "On", "At", "By", "After", "As"}
    ):
        return None
    return subject, sentence[match.start() :]


def change_subject(sentence: str, other_subject: str) -> str | None:
    """Give the sentence another subject."""
    parts = subject_of(sentence)
    if parts is None or parts[0].lower() in _PRONOUNS or not other_subject:
        return None
    mine, theirs = set(content_stems(parts[0])), set(content_stems(other_subject))
    if not mine or not theirs or mine & theirs or other_subject.lower() in _PRONOUNS:
        return None
    return other_subject + parts[1]


def join_halves(first: str, second: str, rng: random.Random) -> str | None:
    """Begin with one sentence and end with another, cut before function words or verbs."""
    cuts_a, cuts_b = _cuts(first), _cuts(second)
    pairs = [
        (a, b)
        for a in cuts_a
        for b in cuts_b
        if _word_at(first, a) == _word_at(second, b) or rng.random() < 0.05
    ]
    if not pairs:
        return None
    a, b = rng.choice(pairs)
    joined = first[:a] + second[b:]
    return joined if _is_new(joined, first) and _is_new(joined, second) else None


def cut_middle(sentence: str, rng: random.Random) -> str | None:
    """Drop words between two function words, a verb among them: mostly garbles who did what."""
    cuts = _cuts(sentence)
    pairs = [
        (a, b)
        for a in cuts
        for b in cuts
        if a < b
        and len(sentence[a:b].split()) >= 3
        and sentence[a - 2] not in ",;"
        and sentence[b - 2] not in ",;"
        and _FIRST_VERB.search(sentence[a - 1 : b + 1])
        and _word_at(sentence, b) not in {"and", "or", "but"}
    ]
    if not pairs:
        return None
    a, b = rng.choice(pairs)
    return sentence[:a] + sentence[b:]


def drop_clause(sentence: str, rng: random.Random) -> str | None:
    """Leave out an aside, a relative clause, an opening or a closing phrase. What is left stays true."""
    patterns = [_ASIDE, _RELATIVE, _TAIL, _LEAD, _AND_TAIL]
    rng.shuffle(patterns)
    for pattern in patterns:
        found = list(pattern.finditer(sentence))
        if not found:
            continue
        match = rng.choice(found)
        if pattern is _LEAD:
            result = match[1].upper() + sentence[match.end() :]
        else:
            result = sentence[: match.start()] + sentence[match.end() :]
        if 5 <= len(result.split()) < len(sentence.split()):
            return result
    return None


def _cuts(sentence: str) -> list[int]:
    """Where a function word or a verb begins, not at the very ends."""
    starts = [m.start() for m in re.finditer(r"(?<=\s)\S+", sentence)]
    inner = starts[1:-2]
    return [place for place in inner if _word_at(sentence, place) in FUNCTION_WORDS]


def _word_at(sentence: str, place: int) -> str:
    match = re.match(r"[A-Za-z]+", sentence[place:])
    return match[0] if match else ""


def _is_new(joined: str, whole: str) -> bool:
    mine, theirs = content_stems(joined), set(content_stems(whole))
    return len([stem for stem in mine if stem not in theirs]) >= 2 and len(mine) >= 4
