"""Files of every kind give their prose; damaged ones give one sentence."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import drawn_pdf, make_docx, make_pdf, without_bytes

from hiersum.errors import InputError
from hiersum.text.formats import extract_text, kind_of

PROSE = "The harbour bridge reopened on Monday after eleven months of repairs, the city said."
MORE = "Engineers replaced 212 cables and strengthened the eastern tower of the bridge."
HTML = f"""<!doctype html><html><head><title>News</title><meta charset="utf-8">
<link rel="canonical" href="https://news.example/bridge"></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/sport">Sport section</a></li></ul></nav>
<div id="cookie-banner"><p>We use cookies to make this page better for you.</p></div>
<article><h1>Bridge</h1><p>{PROSE}</p><p>{MORE} {PROSE}</p><p>{MORE}</p></article>
<footer>All rights reserved.</footer><script>var x = "tracker";</script></body></html>"""
KINDS = {
    "text": (f"{PROSE}\n{MORE}".encode(), ".txt"),
    "markdown": (f"# Bridge\n\n*{PROSE}*\n\n- [{MORE}](https://x.example)\n".encode(), ".md"),
    "html": (HTML.encode(), ".html"),
    "pdf": (make_pdf([[PROSE], [MORE]]), ".pdf"),
    "docx": (make_docx([PROSE], [[MORE, "x"]]), ".docx"),
}


def extract(data: bytes, suffix: str = "", limit: int = 1_000_000) -> str:
    return extract_text(data, "file", suffix, max_characters=limit).text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_the_prose_of_every_kind_is_found(kind: str, packed: bool) -> None:
    data, suffix = KINDS[kind]
    text = extract(gzip.compress(data) if packed else data, suffix)
    assert PROSE in text
    assert MORE in text


def test_the_kind_of_a_file_is_told_without_its_packing() -> None:
    kinds = [kind_of(Path(name)) for name in ("a.JSONL", "a.jsonl.gz", "a.parquet", "a")]
    assert kinds == [".jsonl", ".jsonl", ".parquet", ""]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "markdown"])
def test_the_content_tells_the_kind_when_the_name_does_not(kind: str) -> None:
    assert PROSE in extract(KINDS[kind][0], "")


def test_menus_banners_and_scripts_are_left_out_of_a_page() -> None:
    text = extract(HTML.encode(), ".html")
    assert not any(word in text for word in ("Sport", "cookies", "rights reserved", "tracker"))


def test_a_page_names_its_address() -> None:
    page = extract_text(HTML.encode(), "p", ".html", max_characters=10_000)
    assert page.url == "https://news.example/bridge"


def test_a_page_in_a_declared_encoding_is_read_in_it() -> None:
    page = HTML.replace("utf-8", "windows-1251").replace("city", "город")
    assert "город" in extract(page.encode("cp1251"), ".html")


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [("iso-8859-1", "cp1252"), ("utf-16", "utf-8"), ("punycode", "utf-8"), ("nonsense", "utf-8")],
)
def test_a_wrong_declaration_does_no_harm(declared: str, encoding: str) -> None:
    page = HTML.replace('"utf-8"', f'"{declared}"').replace("the city", "the city\u2019s mayor")
    assert "the city\u2019s mayor said" in extract(page.encode(encoding), ".html")


def test_a_byte_order_mark_beats_a_declaration() -> None:
    page = HTML.replace("utf-8", "windows-1251").replace("city", "café")
    assert "café" in extract(page.encode("utf-8-sig"), ".html")


def test_text_about_pdf_files_is_text() -> None:
    assert "%PDF-" in extract(f"Such a file begins with %PDF-1.4. {PROSE}".encode(), ".txt")


def test_deeply_nested_and_bare_markup_keeps_its_text() -> None:
    nested = "<html><body>" + "<div>" * 3_000 + f"<p>{PROSE}</p>"
    assert PROSE in extract(nested.encode(), ".html")
    assert PROSE in extract(f"<div>{PROSE}</div>".encode(), ".html")


def test_comments_made_to_be_slow_are_read_at_once() -> None:
    assert "x" in extract(b"<!---->" * 500 + b"x", ".txt")
    for unfinished in (b"<!-- ", b"<script "):  # quadratic time would be hours
        assert not extract(b"<html><body>" + unfinished * 200_000, ".html").strip()


def test_a_short_page_is_read_whole() -> None:
    assert extract(b"<p>Bridge open.</p><script>no()</script>", ".html").strip() == "Bridge open."


def test_code_images_and_front_matter_are_left_out_of_markdown() -> None:
    text = extract(
        b"---\ntitle: x\n---\nOne `two`\nthree.\n\n```\ncode\n```\n![pic](a.png)\n", ".md"
    )
    assert text.split() == ["One", "two", "three."]


@pytest.mark.parametrize("kind", ["text", "html", "pdf", "docx"])
def test_text_beyond_the_limit_is_left_unread_and_said(kind: str) -> None:
    data, suffix = KINDS[kind]
    result = extract_text(data, "file", suffix, max_characters=90)
    assert result.is_cut
    assert 0 < len(result.text) <= 90


def test_a_small_archive_of_much_text_stays_within_the_limit() -> None:
    bomb = gzip.compress(b"The bridge is open. " * 5_000_000)
    result = extract_text(bomb, "file", ".txt", max_characters=100_000)
    assert result.is_cut
    assert len(result.text) <= 100_000


def make_zip(entries: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(b"text " * 99, mtime=0)[:-9], r"file: damaged gzip file"),
        (b"\x1f\x8b" + b"junk" * 9, r"file: damaged gzip file"),
        (b"%PDF-1.4\nnothing", r"file: damaged PDF"),
        (make_pdf([[PROSE]])[:300], r"file: damaged PDF"),
        (make_docx([PROSE])[:900], r"file: damaged Word file"),
        (make_zip({"word/document.xml": b"<broken"}), r"file: damaged Word file"),
        (make_zip({"a.txt": b"text"}), r"file: this is a zip archive but not a \.docx file"),
        (
            make_zip({"word/document.xml": b" " * 9_000_000}),
            r"file: the text of the Word file unpacks to more than [\d,]+ bytes",
        ),
        (b"\xd0\xcf\x11\xe0" + bytes(99), r"file: this is an old Microsoft Office file; save it as"),
        (b"{\\rtf1 text}", r"file: this is a rich text file"),
        (b"\x89PNG\r\n", r"file: this is an image; hiersum reads text only"),
        (b"PAR1xxxx", r"file: this is a Parquet file; name it \.parquet"),
        (bytes(range(256)), r"file: looks like a binary file"),
    ],
    ids=without_bytes,
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_one_sentence(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        extract(data)
    assert "\n" not in str(caught.value)


def make_tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.docx", b"not a zip", r"a\.docx: damaged Word file, or not one; if it is text, name it"),
        ("a.docx", b"PK\x03\x04 cut off", r"a\.docx: damaged Word file"),
        ("a.pdf", PROSE.encode(), r"a\.pdf: damaged PDF, or not one; if it is text, name it \.txt"),
        ("a.pdf", HTML.encode(), r"a\.pdf: damaged PDF, or not one"),
        ("a.txt.gz", PROSE.encode(), r"a\.txt\.gz: damaged gzip file, or not one"),
        ("bad.xlsx", b"PK\x03\x04 cut off", r"bad\.xlsx: this is a spreadsheet; save"),
        ("bad.xlsx", b"not a zip", r"bad\.xlsx: this is a spreadsheet"),
        ("a", make_zip({"xl/workbook.xml": b"<x/>"}), r"a: this is a spreadsheet"),
        ("a", make_zip({"ppt/presentation.xml": b"<x/>"}), r"a: this is a presentation"),
        ("a", make_zip({"mimetype": b"x", "content.xml": b"<x/>"}), r"a: this is a file of another"),
        ("a", make_zip({"META-INF/container.xml": b"<x/>"}), r"a: this is an e-book"),
        ("a", make_zip({}), r"a: this is a zip archive but not a \.docx file"),
        ("a", make_tar(), r"a: this is an archive; unpack it first"),
        ("a", gzip.compress(make_tar()), r"a: this is an archive; unpack it first"),
        ("a", bz2.compress(PROSE.encode()), r"a: this is an archive"),
        ("a", lzma.compress(PROSE.encode()), r"a: this is an archive"),
        ("a", b"7z\xbc\xaf'\x1c" + bytes(99), r"a: this is an archive"),
        ("a", b"Rar!\x1a\x07\x01\0" + bytes(99), r"a: this is an archive"),
        ("a.jpg", b"not an image", r"a\.jpg: this is an image; hiersum reads text only"),
        ("a", b"II*\0aaaaaaaa", r"a: this is an image"),
        ("a", b"RIFF\x24\0\0\0WEBPVP8 ", r"a: this is an image"),
        ("a", b"RIFF\x24\0\0\0WAVEfmt ", r"a: this is a sound or film"),
        ("a", b"\0\0\0\x18ftypmp42", r"a: this is a sound or film"),
        ("a.svg", b"<svg><text>A title</text></svg>", r"a\.svg: this is an image"),
        ("a.rtf", b"{ damaged", r"a\.rtf: this is a rich text file"),
    ],
    ids=without_bytes,
)  # fmt: skip
def test_extract_text_refuses_other_and_damaged_kinds_by_name(
    name: str, data: bytes, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        extract_text(data, name, kind_of(Path(name)), max_characters=1_000)


@pytest.mark.parametrize("start", ["GIF89 is a format", "ID3 tags", "II* is", "BZh", "Rar! Oggs"])
def test_extract_text_reads_text_that_begins_like_another_kind(start: str) -> None:
    assert extract(f"{start}. {PROSE}".encode(), ".txt").endswith(PROSE)


def test_extract_text_unpacks_only_the_text_of_a_word_file() -> None:
    """Images may be large; python-docx, given the file, would unpack them all."""
    with zipfile.ZipFile(io.BytesIO(make_docx([PROSE]))) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["word/media/image1.bmp"] = bytes(200_000_000)
    rels = "word/_rels/document.xml.rels"
    entries[rels] = entries[rels].replace(
        b"</Relationships>",
        b'<Relationship Id="i" Target="media/image1.bmp" Type="http://schemas.openxmlformats.org/'
        b'officeDocument/2006/relationships/image"/></Relationships>',
    )
    data = make_zip(entries)
    tracemalloc.start()
    try:
        assert extract(data, ".docx") == PROSE
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_locked_pdf_is_named_as_such() -> None:
    import pypdf

    writer = pypdf.PdfWriter(io.BytesIO(make_pdf([[PROSE]])))
    writer.encrypt("secret", algorithm="RC4-128")
    file = io.BytesIO()
    writer.write(file)
    with pytest.raises(InputError, match="locked with a password; save it without one"):
        extract(file.getvalue())


SUFFIXES = st.sampled_from(["", ".txt", ".md", ".html", ".pdf", ".docx"])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=400) | st.text(max_size=300).map(str.encode), SUFFIXES)
def test_no_bytes_raise_anything_but_our_errors(data: bytes, suffix: str) -> None:
    try:
        text = extract(data, suffix, limit=1_000)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert len(text) <= 1_000
        text.encode("utf-8")


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(sorted(KINDS)), st.data())
def test_no_damage_to_a_good_file_raises_anything_but_our_errors(
    kind: str, data: st.DataObject
) -> None:
    content, suffix = KINDS[kind]
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(damaged)))
    try:
        extract(bytes(damaged[:cut]) or b" ", suffix)
    except InputError as error:
        assert "\n" not in str(error)


def test_headers_and_footers_of_pdf_pages_are_left_out() -> None:
    body = [
        [
            "The bridge was closed in March, and the",
            "ferries took over.",
            "Engineers replaced cables.",
        ],
        [
            "The bridge reopened on Monday, and 4,000",
            "people walked over it.",
            "Ferries stop in June.",
        ],
        ["The toll is two pounds.", "Bicycles pay nothing.", "The mayor cut the ribbon."],
    ]
    pages = [
        ["Lowmoor Council - Report 2026", *lines, f"Page {n} of 3"]
        for n, lines in enumerate(body, 1)
    ]
    assert extract(make_pdf(pages), ".pdf").split("\n") == [line for page in body for line in page]
    # Some programs draw header and footer first.
    pages = [
        ["Lowmoor Council", "Report 2026", "Draft", f"Page {n}", *lines]
        for n, lines in enumerate(body, 1)
    ]
    assert extract(make_pdf(pages), ".pdf").split("\n") == [line for page in body for line in page]
    short = [["All is well.", "Still."]] * 4  # nothing but what is shared: not running lines
    assert extract(make_pdf(short), ".pdf").split("\n") == ["All is well.", "Still."] * 4


COLUMNS = [
    ("The harbour bridge reopened on Monday", "The union of ferry workers is against"),
    ("after eleven months of repairs, the", "it. Forty people would lose their"),
    ("city said. Engineers replaced 212 of", "work, said its chair. The council will"),
    ("its cables. The work cost more than", "vote on the second of May. A petition"),
    ("three million euros.", "has four thousand names. The mayor"),
    ("Ferries will stop in June, said the", "did not answer questions on Tuesday."),
]


def _draw(*texts: tuple[float, float, str]) -> str:
    shown = " ".join(f"1 0 0 1 {x} {y} Tm ({text}) Tj" for x, y, text in texts)
    return f"BT /F1 11 Tf {shown} ET"


@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("shift", [0, 4])
def test_two_columns_of_a_pdf_are_read_one_after_the_other(by_rows: bool, shift: int) -> None:
    """In whatever order they were drawn, and if their lines are not level; headings stay."""
    sides = zip(*COLUMNS)
    left, right = (
        [(x, 700 - 14 * n - down, text) for n, text in enumerate(side)]
        for side, x, down in zip(sides, (50, 320), (0, shift))
    )
    drawn = [text for pair in zip(left, right) for text in pair] if by_rows else [*left, *right]
    head = (50, 760, "All that is new of the harbour bridge, its ferries, its workers, its council")
    foot = (50, 560, "Printed by the Lowmoor Gazette, the newspaper for the harbour and the town.")
    found = extract(drawn_pdf([_draw(head, *drawn, foot)]), ".pdf").split("\n")
    assert found == [text for _, _, text in (head, *left, *right, foot)]


def test_tables_of_a_pdf_are_read_row_by_row() -> None:
    rows = [(f"Mill {n}", f"{n} boats") for n in range(9)]
    places = [(x, 700 - 14 * n) for n in range(9) for x in (50, 320)]
    cells = [(x, y, cell) for (x, y), cell in zip(places, (c for row in rows for c in row))]
    found = extract(drawn_pdf([_draw(*cells)]), ".pdf")
    assert found.split() == " ".join(f"{a} {b}" for a, b in rows).split()
