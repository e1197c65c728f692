"""A lead reads as on the page, citations are found wherever they stand, and nothing else is."""

from __future__ import annotations

import pytest

from hiersum.building.wikitext import cited_urls, clean_lead, read_article

ARTICLE = """{{short description|Bridge}}
{{Infobox bridge|name=X|length={{convert|5|m}}|website=https://info.example}}
[[File:Bridge.jpg|thumb|The [[bridge]] in 1931]]
<!-- a comment https://no.example -->
The '''Harbour Bridge''' ({{IPAc-en|h|a}}; {{lang-fr|Pont du Port}}) is a \
[[suspension bridge|suspension]] bridge in [[Port Ellery]],{{efn|note}} which is \
{{convert|486|m|ft}} long.<ref name="a">{{cite web |url=https://www.gazette.example/bridge \
|archive-url=https://web.archive.org/web/2012/https://www.gazette.example/bridge|title=B}}</ref> \
It was opened on {{start date|1931|5|2}}&nbsp;by the \
queen<ref name="a"/>, and "closed" ({{IPA|x}}) in 2020.{{cn|date=May}}
* a list item

Second ''paragraph''<ref>[http://union.example/a?x=1&y=2 Union], accessed.</ref> here{{snd}}or \
[https://x.example there].

== History ==
Text <ref>http://agency.example/page.</ref>
{{cite book|title=Q {{!}} z|url=http://book.example/q}}
== External links ==
* [http://official.example Official]
"""


def test_read_article_returns_lead_and_cited_urls() -> None:
    article = read_article("Harbour Bridge", ARTICLE)
    assert article["lead"] == (
        "The Harbour Bridge (Pont du Port) is a suspension bridge in Port Ellery, which is 486 m long. "
        'It was opened on May 2, 1931 by the queen, and "closed" in 2020.\n'
        "Second paragraph here \u2013 or there."
    )
    assert article["urls"] == [
        "https://www.gazette.example/bridge",
        "http://union.example/a?x=1&y=2",
        "http://agency.example/page",
        "http://book.example/q",
    ]


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("[[A|b]]s and [[C]]", "bs and C"),
        ("''it'' '''bold''' '''''both'''''", "it bold both"),
        ("{{convert|3|to|5|km|mi}} away", "3 to 5 km away"),
        ("{{lang|de|Haus}} ({{circa|1900}})", "Haus (c. 1900)"),
        ("x{{unknown|y}} (, ; ) z ( , a; )", "x z (a)"),
        ("{| class=x\n| cell\n|}\nAfter.", "After."),
        ("a &amp; b &ndash; c<br />d", "a & b \u2013 c d"),
        ("[[Category:X]][[fr:Y]]Text.<gallery>File:a.jpg</gallery>", "Text."),
        ("<math>x</math> is <sub>2</sub>.", "is 2."),
        ("unclosed {{template|x", "unclosed {{template|x"),
    ],
)
def test_clean_lead_turns_markup_into_text(wikitext: str, text: str) -> None:
    assert clean_lead(wikitext) == text


@pytest.mark.parametrize(
    ("title", "text", "reason"),
    [
        ("A", "#REDIRECT [[B]]", "redirect"),
        ("List of mills", "Mills.", "list"),
        ("Mill (disambiguation)", "Mill may be:", "disambiguation"),
        ("Mill", "Mill may be:\n{{Disambiguation|geo}}", "disambiguation"),
        ("Mill", "Mill may be:\n{{Human name disambiguation}}", "disambiguation"),
        ("Smith", "Smith is a name.\n{{surname}}", "disambiguation"),
        ("Mill", "{{stub}}\n== Heading ==\nText.", "no lead"),
        ("Dab radio", "Dab radio is a thing. {{Use dab dates}}", ""),
    ],
)
def test_read_article_gives_the_reason_for_dropping(title: str, text: str, reason: str) -> None:
    assert read_article(title, text).get("dropped", "") == reason


def test_cited_urls_unwraps_archived_copies() -> None:
    text = (
        "<ref>https://web.archive.org/web/20120101000000/http://a.example/x</ref>"
        "<ref>[https://archive.today/abc copy]</ref><ref>http://a.example/x (old)</ref>"
        "{{cite news|url= http://b.example/(y) |archiveurl=http://c.example}}"
    )
    assert cited_urls(text) == ["http://a.example/x", "http://b.example/(y)"]
