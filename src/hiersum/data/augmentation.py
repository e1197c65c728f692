"""Make training clusters more realistic: drop and add paragraphs, hide titles, add page noise.

Training clusters are clean; real folders and web pages are not. A network that sees menus, bylines
and cookie notices only in sources, never in summaries, learns to ignore them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from hiersum.types import CitedSentence, Cluster, Document

HIDE_TITLE = 0.15
"""Share of clusters that lose their title."""
DROP_PARAGRAPH = 0.3
"""Share of uncited paragraphs that are dropped."""
ADD_FOREIGN = 0.3
"""Share of clusters that get paragraphs of other clusters."""
ADD_NOISE = 0.35
"""Share of clusters with page noise at the end; before a paragraph, a quarter of it."""
GLUE_MENU = 0.08
"""Share of paragraphs that begin with a menu."""

_MENU = """Home|About|About us|Contact|News|Events|Join|Shop|Gallery|Members|Sign in|Search|Sport|Opinion
Weather|Video|Jobs|Newsletter|Archive|Support us|My account|Help|FAQ|Donate|Culture|Business|Local
Print this page|Share|Tweet|Email|Comments (12)|Next|Previous|Back to top|Skip to content"""
_ITEMS = [item.strip() for item in _MENU.replace("\n", "|").split("|")]
_NOTES = (
    "We use cookies to give you the best experience on this site. By browsing on you accept them.",
    "Read more: what we know so far, and what happens next.",
    "Sign up for our newsletter and get the top stories in your inbox every morning.",
    "This article was last updated at 14:32. Send corrections to the newsroom.",
    "By our staff reporter. Photo by the agency. Reading time: 4 minutes.",
    "All rights reserved. No part of this page may be copied without written permission.",
    "You have two free articles left this month. Subscribe for full access.",
    "Click here to see the full gallery. Tell us what you think in the comments below.",
    "Please enable JavaScript to view this page. If the problem goes on, contact us.",
    "Related stories: the week in pictures, letters to the editor, and our crossword.",
    "Der Artikel wurde aus dem Archiv geladen. Bitte melden Sie sich an, um weiterzulesen.",
    "Cet article est r\u00e9serv\u00e9 aux abonn\u00e9s. Il vous reste deux articles gratuits.",
    "Esta p\u00e1gina utiliza cookies propias y de terceros para mejorar su experiencia.",
    "Posted by admin on Tuesday. Filed under: general. Tags: none. Leave a reply.",
    "Page 3 of 12. Continued on the next page. Printed on recycled paper.",
)


def augment(cluster: Cluster, others: Sequence[str], *, seed: str) -> Cluster:
    """Return a cluster with a cited summary, randomly modified; the seed determines all changes.

    `others` are paragraphs of other clusters to mix in.
    """
    draw = random.Random(seed)
    cited = {number for sentence in cluster.cited for number in sentence.paragraphs}
    new_number: dict[int, int] = {}
    documents: list[Document] = []
    old = new = 0
    for document in cluster.documents:
        texts: list[str] = []
        for text in document.paragraphs or ():
            if old in cited or draw.random() >= DROP_PARAGRAPH:
                if draw.random() < ADD_NOISE / 4:
                    texts.append(_noise(draw))
                new_number[old] = new + len(texts)
                texts.append(f"{_menu(draw)} {text}" if draw.random() < GLUE_MENU else text)
            old += 1
        if texts:
            documents.append(Document.from_paragraphs(texts, document.name, document.url))
            new += len(texts)
    extra = [_noise(draw) for _ in range(draw.randint(1, 3))] if draw.random() < ADD_NOISE else []
    if others and draw.random() < ADD_FOREIGN:
        extra += draw.sample(list(others), min(len(others), draw.randint(1, 3)))
    if extra:
        documents.append(Document.from_paragraphs(extra))
    sentences = tuple(
        CitedSentence(sentence.text, tuple(new_number[number] for number in sentence.paragraphs))
        for sentence in cluster.cited
    )
    title = "" if draw.random() < HIDE_TITLE else cluster.title
    return replace(cluster, title=title, documents=tuple(documents), cited=sentences)


def _noise(draw: random.Random) -> str:
    return _menu(draw) if draw.random() < 0.4 else draw.choice(_NOTES)


def _menu(draw: random.Random) -> str:
    """Return menu entries, run together as extraction often leaves them."""
    items = draw.sample(_ITEMS, draw.randint(3, 9))
    return ("" if draw.random() < 0.3 else " ").join(items)
