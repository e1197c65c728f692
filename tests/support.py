"""What tests share: files made by hand, and where the corpora are."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import NoReturn

import docx
import pytest
import sentencepiece

from hiersum.text.tokenizer import train_tokenizer

REPOSITORY = Path(__file__).parents[1]
EXAMPLES = REPOSITORY / "examples"


def make_pdf(pages: list[list[str]]) -> bytes:
    """Return a PDF with one line of text below the other on each page."""
    drawn = []
    for lines in pages:
        escaped = [
            line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in lines
        ]
        shown = " ".join(f"({line}) Tj T*" for line in escaped)
        drawn.append(f"BT /F1 11 Tf 14 TL 50 780 Td {shown} ET")
    return drawn_pdf(drawn)


def drawn_pdf(pages: list[str]) -> bytes:
    """Return a PDF of pages that are drawn by these operators; their font is F1."""
    objects: list[bytes] = []
    num_pages = len(pages)
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(num_pages))
    objects.append(b"<< /Type /Catalog /Pages 2 0 R >>")
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {num_pages} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for number, text in enumerate(pages):
        stream = text.encode("latin-1")
        page = (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Contents {5 + 2 * number} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(page.encode())
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream))
    file = io.BytesIO()
    file.write(b"%PDF-1.4\n")
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(file.tell())
        file.write(b"%d 0 obj\n%b\nendobj\n" % (number, content))
    start = file.tell()
    file.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    file.writelines(b"%010d 00000 n \n" % offset for offset in offsets)
    file.write(
        b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    )
    return file.getvalue()


def make_docx(paragraphs: list[str], table: list[list[str]] | None = None) -> bytes:
    """Return a Word file with paragraphs and perhaps a table after them."""
    document = docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    if table:
        rows = document.add_table(rows=len(table), cols=len(table[0])).rows
        for row, texts in zip(rows, table):
            for cell, text in zip(row.cells, texts):
                cell.text = text
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def shared_file(*parts: str) -> Path:
    """Return a file of the shared corpora, or skip with the sentence that says how to get it."""
    return _find("HIERSUM_DATA", "data", parts)


def golden_file(*parts: str) -> Path:
    """Return a file of the golden outputs, or skip with the sentence that says how to get it."""
    return _find("HIERSUM_GOLDEN", "golden", parts)


def paper_file(*parts: str) -> Path:
    """Return a file of the paper's source, or skip with the sentence that says how to get it."""
    return _find("HIERSUM_PAPER", "paper", parts)


def _find(variable: str, folder: str, parts: tuple[str, ...]) -> Path:
    for root in (os.environ.get(variable), REPOSITORY.parent / "shared" / folder):
        if root and Path(root, *parts).exists():
            return Path(root, *parts)
    reason = f"{'/'.join(parts)} not found; set {variable} to the folder that holds it"
    skip_unless_ci(reason)


def without_bytes(value: object) -> str | None:
    """Name a test's parameter, but never by bytes that may change from run to run."""
    return "bytes" if isinstance(value, bytes) else None


def bridge_texts() -> list[str]:
    """The plain texts of the example that tests train small vocabularies on."""
    return [path.read_text() for path in sorted((EXAMPLES / "harbour-bridge").glob("*.txt"))]


def small_vocabulary(profile: str, size: int = 200) -> bytes:
    """Return a SentencePiece model with the special pieces of a profile."""
    if profile == "paper":
        return train_tokenizer(bridge_texts(), size=size)
    options: dict[str, object] = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
    if profile == "hiersumm":
        options = {"user_defined_symbols": ["<T>", "<S>", "</S>", "<PAD>", "<P>", "<Q>"]}
    model = io.BytesIO()
    lines = [line for text in bridge_texts() for line in text.split("\n") if line]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=size, minloglevel=2, **options
    )
    return model.getvalue()


def skip_unless_ci(reason: str) -> NoReturn:
    """Skip a test for want of something; in CI, where it must be there, fail instead."""
    if os.environ.get("CI"):
        pytest.fail(f"CI must not skip: {reason}")
    pytest.skip(reason)
