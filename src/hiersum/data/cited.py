"""Records of corpora whose summaries say which paragraphs each sentence rests on."""

from __future__ import annotations

from itertools import accumulate, groupby
from typing import Any

from hiersum.data.records import cluster_from_record
from hiersum.errors import DataError
from hiersum.types import Cluster


def written_cluster(record: Any, where: str) -> Cluster:
    """Gather the ranked paragraphs by document, and renumber what sentences cite."""
    try:
        paragraphs = [(int(p["document"]), str(p["text"])) for p in record["paragraphs"]]
        sentences = [(str(s["text"]), [*map(int, s["paragraphs"])]) for s in record["sentences"]]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f'{where}: expected "paragraphs" of "document" and "text", and "sentences" of "text" '
            f'and "paragraphs" ({type(error).__name__}: {error})'
        ) from error
    order = sorted(range(len(paragraphs)), key=lambda number: paragraphs[number][0])
    new_number = {old: new for new, old in enumerate(order)}
    documents = [
        {"name": f"document-{number}", "paragraphs": [paragraphs[n][1] for n in group]}
        for number, group in groupby(order, key=lambda n: paragraphs[n][0])
    ]
    summary = [
        {"text": text, "paragraphs": sorted(new_number.get(n, len(order)) for n in cited)}
        for text, cited in sentences
    ]
    line = {"title": record.get("title"), "documents": documents, "summary": summary}
    return cluster_from_record({"id": record.get("id"), **line}, where)


def annotated_cluster(record: Any, where: str) -> Cluster:
    """Split documents at line breaks, and number what sentences cite through all of them."""
    try:
        texts = {str(d["name"]): str(d["text"]).split("\n") for d in record["documents"]}
        cited = [(str(text), [(str(d), int(p)) for d, p in of]) for text, of in record["sentences"]]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f'{where}: expected "documents" of "name" and "text", and "sentences" with what they '
            f"cite ({type(error).__name__}: {error})"
        ) from error
    first = dict(zip(texts, accumulate([0, *map(len, texts.values())])))
    num_paragraphs = sum(map(len, texts.values()))

    def number(document: str, paragraph: int) -> int:
        is_there = document in texts and 0 <= paragraph < len(texts[document])
        return first[document] + paragraph if is_there else num_paragraphs

    line = {
        "id": record.get("id"),
        "title": record.get("title"),
        "documents": [{"name": name, "paragraphs": of} for name, of in texts.items()],
        "summary": [{"text": t, "paragraphs": [number(*place) for place in of]} for t, of in cited],
    }
    return cluster_from_record(line, where)
