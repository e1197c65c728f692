"""Articles for tests: made up, as many as needed, always the same."""

from __future__ import annotations

import json
import random
from pathlib import Path

from hiersum.building.clusters import Article

WORDS = [f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in ("rt", "sk", "lm", "nd", "pp")]


def made_up_articles(number: int, seed: int = 1) -> list[Article]:
    """Return articles with titles of two words and bodies that mention titles of others."""
    generator = random.Random(seed)
    titles = [" ".join(generator.sample(WORDS, 2)).title() + f" {n}" for n in range(number)]
    articles = []
    for n, title in enumerate(titles):
        body = tuple(_paragraph(generator, titles) for _ in range(generator.randint(1, 5)))
        lead = f"{title} is a {' '.join(generator.choices(WORDS, k=5))}. {_paragraph(generator, titles)}"
        articles.append(Article(f"a{n}", title, lead, body))
    return articles


def _paragraph(generator: random.Random, titles: list[str]) -> str:
    return f"{' '.join(generator.choices(WORDS, k=12))} of {generator.choice(titles)}.".capitalize()


def article_line(article: Article) -> str:
    return json.dumps(
        {
            "id": article.id,
            "title": article.title,
            "documents": [{"paragraphs": article.paragraphs}],
            "summary": article.lead,
        }
    )


def write_lines(articles: list[Article], path: Path) -> Path:
    path.write_text("\n".join(map(article_line, articles)) + "\n")
    return path
