"""Extract the lead of an article as clean text, and the URLs it cites.

Only the lead is parsed (mwparserfromhell); citations are found by regular expression in the whole
text, which is much faster. Templates are dropped, except those that produce running text:
conversions, foreign words, dates. Brackets left empty are dropped too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

from hiersum.text.encodings import clean_text
from hiersum.text.numbers import MONTHS

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_UNREAD = re.compile(r"<(nowiki|pre|math|gallery|timeline|score)\b[^>]*>.*?</\1\s*>", re.S | re.I)
_HEADING = re.compile(r"^=[^=\n].*=\s*$|^==+[^=\n].*==+\s*$", re.M)
_REF = re.compile(r"<ref\b[^>/]*>(.*?)</ref\s*>", re.S | re.I)
_ANY_REF = re.compile(r"<ref\b[^>]*/>|<ref\b[^>/]*>.*?</ref\s*>", re.S | re.I)
_CITE = re.compile(r"\{\{\s*(?:cite|citation|cita|lien|literatur|internetquelle)\b", re.I)
_URL_FIELD = re.compile(
    r"\|\s*(?:url|chapter-url|article-url)\s*=\s*(https?://[^\s|{}<>\"\[\]]+)", re.I
)
_URL = re.compile(r"https?://[^\s|{}<>\"\[\]]+", re.I)
_ARCHIVED = re.compile(r"https?://web\.archive\.org/(?:web/)?\d+[a-z_*]*/(.+)", re.I)
_ARCHIVES = re.compile(
    r"https?://(?:web\.archive\.org|archive\.(?:today|is|ph|md)|webcitation\.org)/", re.I
)
_DISAMBIGUATION = re.compile(
    r"""\{\{\s*(?:[\w\s-]*\b)?(?:disambig(?:uation)?(?:[\s-]page)?|disamb|dab|hndis|geodis|
    begriffsklärung|homonymie|desambiguación|disambigua|set\s+index(?:\s+article)?|sia|surname|
    given\s+name)\s*(?:\||\}\}) | __DISAMBIG__""",
    re.I | re.X,
)
_LIST_TITLE = re.compile(
    r"(?:lists? of|index of|outline of|glossary of|timeline of|bibliography of|deaths in)\b", re.I
)
_REDIRECT = re.compile(r"\s*#\s*(?:redirect|weiterleitung|redirection|redirección|rinvia)\b", re.I)
_MEDIA = re.compile(
    r"\s*:?\s*(?:file|image|media|category|datei|bild|kategorie|fichier|[a-z-]{2,12}):", re.I
)
_EMPTY_BRACKETS = re.compile(r"\(\s*[,;:/\s]*\)|\[\s*\]")
_LEADING_MARKS = re.compile(r"\(\s*(?:[,;:]\s*)+")
_TRAILING_MARKS = re.compile(r"(?:\s*[,;:])+\s*\)")
_DOUBLE_MARKS = re.compile(r"([,;])(?:\s*[,;])+")
_SPACE_BEFORE = re.compile(r"\s+([,.;:!?)\]])")
_BLANKS = re.compile(r"[ \t]+")
_TAGS_WITHOUT_TEXT = frozenset(
    {"ref", "table", "gallery", "math", "timeline", "score", "div", "references"}
)
_LIST_MARKS = frozenset("*#:;")
_PASSING = frozenset(
    "nowrap nobr small big abbr tooltip ill interlanguage_link linktext mono smallcaps sc formatnum "
    "val".split()
)
_DATES = (
    "birth_date birth_date_and_age death_date death_date_and_age start_date start_date_and_age "
    "end_date film_date".split()
)


def read_article(title: str, text: str) -> dict[str, Any]:
    """Return the `lead` and cited `urls` of an article, or why it is `dropped`."""
    if _REDIRECT.match(text):
        return {"dropped": "redirect"}
    if _LIST_TITLE.match(title):
        return {"dropped": "list"}
    text = _UNREAD.sub("", _COMMENT.sub("", text))
    if title.endswith("(disambiguation)") or _DISAMBIGUATION.search(text):
        return {"dropped": "disambiguation"}
    heading = _HEADING.search(text)
    lead = clean_lead(text if heading is None else text[: heading.start()])
    return {"lead": lead, "urls": cited_urls(text)} if lead else {"dropped": "no lead"}


def cited_urls(text: str) -> list[str]:
    """Return the URLs in references and citation templates, each once, in order.

    An archived copy counts as its original.
    """
    found: dict[str, None] = {}
    for reference in _REF.findall(text):
        for url in _URL.findall(reference):
            found.setdefault(_address(url))
    for template in _citations(_REF.sub("", text)):
        if field := _URL_FIELD.search(template):
            found.setdefault(_address(field[1]))
    found.pop("", None)
    return list(found)


def clean_lead(text: str) -> str:
    """Return wikitext as running text, one line per paragraph."""
    import mwparserfromhell

    parsed = mwparserfromhell.parse(_ANY_REF.sub("", text), skip_style_tags=False)
    text = "".join(_texts(parsed.nodes))
    lines = (_tidy(line) for line in clean_text(text).split("\n"))
    # Hat notes, remnants of tables and list items begin like this; prose does not.
    return "\n".join(line for line in lines if line and line[0] not in "*#:;|{}!=<")


def _citations(text: str) -> Iterator[str]:
    """Yield the citation templates of a text, up to their closing braces."""
    for start in _CITE.finditer(text):
        depth, place = 0, start.start()
        for brace in re.finditer(r"\{\{|\}\}", text[place : place + 5_000]):
            depth += 1 if brace[0] == "{{" else -1
            if not depth:
                yield text[place : place + brace.end()]
                break


def _address(url: str) -> str:
    """Return a URL without a web archive's prefix and without trailing punctuation."""
    if archived := _ARCHIVED.match(url):
        url = archived[1]
        if not url.lower().startswith("http"):
            url = f"http://{unquote(url)}" if not url.startswith("/") else ""
    elif _ARCHIVES.match(url):
        return ""
    url = url.rstrip(".,;:!?'")
    return url.rstrip(")") if ")" in url and "(" not in url else url


def _texts(nodes: Any) -> Iterator[str]:
    """Yield the visible text of parsed wikitext, node by node."""
    for node in nodes:
        kind = type(node).__name__
        if kind == "Text":
            yield str(node.value)
        elif kind == "Wikilink":
            if not _MEDIA.match(str(node.title)):
                yield from _texts((node.text if node.text is not None else node.title).nodes)
        elif kind == "ExternalLink":
            if node.title is not None:
                yield from _texts(node.title.nodes)
        elif kind == "HTMLEntity":
            yield str(node.normalize())
        elif kind == "Tag":
            name = str(node.tag).strip().lower()
            if name == "br":
                yield " "
            elif str(node.wiki_markup or "") in _LIST_MARKS:
                yield str(node.wiki_markup)
            elif name not in _TAGS_WITHOUT_TEXT and node.contents is not None:
                yield from _texts(node.contents.nodes)
        elif kind == "Template":
            yield _template_text(node)


def _template_text(template: Any) -> str:
    """Return the text that a known template produces; most produce none."""
    name = re.sub(r"[\s_]+", "_", str(template.name).strip().lower())
    values = [
        "".join(_texts(parameter.value.nodes)).strip()
        for parameter in template.params
        if not parameter.showkey
    ]
    if name in _PASSING or name.startswith(("nowrap", "lang-")):
        return values[0] if values else ""
    if name in _TEMPLATES and values:
        return _TEMPLATES[name](values)
    return _SIGNS.get(name, "")


def _convert(values: list[str]) -> str:
    unit = values[1] if len(values) > 1 else ""
    if unit in ("to", "-", "and", "\u2013", "x", "by") and len(values) > 3:
        joint = {"-": "\u2013"}.get(unit, f" {unit} ")
        return f"{values[0]}{joint}{values[2]} {values[3]}"
    return f"{values[0]} {unit}".strip()


def _date(values: list[str]) -> str:
    numbers = [value for value in values if value.isdigit()][:3]
    if len(numbers) > 1 and 1 <= int(numbers[1]) <= 12:
        month = MONTHS[int(numbers[1]) - 1].title()
        day = f" {int(numbers[2])}," if len(numbers) > 2 else ""
        return f"{month}{day} {numbers[0]}"
    return numbers[0] if numbers else values[0]


_TEMPLATES: dict[str, Callable[[list[str]], str]] = {
    "convert": _convert,
    "cvt": _convert,
    **dict.fromkeys(("lang", "transl", "transliteration"), lambda values: values[-1]),
    **dict.fromkeys(("circa", "c."), lambda values: f"c. {values[0]}"),
    "floruit": lambda values: f"fl. {values[0]}",
    **dict.fromkeys(_DATES, _date),
    "as_of": lambda values: f"As of {_date(values)}",
    "us$": lambda values: f"US${values[0]}",
    "gbp": lambda values: f"\u00a3{values[0]}",
    "\u20ac": lambda values: f"\u20ac{values[0]}",
    "frac": lambda values: "/".join(values[-2:]),
    "sclass": lambda values: f"{values[0]}-class {values[1]}" if len(values) > 1 else values[0],
    "ship": lambda values: " ".join(filter(None, values[:2])),
    "hms": lambda values: f"HMS {values[0]}",
    "uss": lambda values: f"USS {values[0]}",
    "ss": lambda values: f"SS {values[0]}",
}
_SIGNS = {
    "snd": " \u2013 ", "spnd": " \u2013 ", "spaced_ndash": " \u2013 ", "ndash": "\u2013",
    "mdash": "\u2014", "nbsp": " ", "space": " ", "'": "'", "\u00b7": " \u00b7 ", "!": "|",
}  # fmt: skip


def _tidy(line: str) -> str:
    """Remove empty brackets, doubled punctuation and gaps left by dropped markup."""
    for pattern, text in (
        (_EMPTY_BRACKETS, ""),
        (_LEADING_MARKS, "("),
        (_TRAILING_MARKS, ")"),
        (_EMPTY_BRACKETS, ""),
        (_DOUBLE_MARKS, r"\1"),
        (_BLANKS, " "),
        (_SPACE_BEFORE, r"\1"),
    ):
        line = pattern.sub(text, line)
    return line.replace("( ", "(").strip()
