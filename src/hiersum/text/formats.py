"""Extract text from plain, Markdown, HTML, PDF and Word files, also gzipped.

Formats are detected by magic bytes. The suffix tells Markdown and HTML from plain text, and what a
damaged file was meant to be: a `.pdf` or `.docx` that does not begin like one is never read as text.
The libraries for HTML, PDF and Word can raise anything on arbitrary bytes, so each is called in one
place that turns any failure into an `InputError`.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import unescape
from itertools import pairwise
from pathlib import PurePath
from typing import Any

from hiersum.errors import InputError
from hiersum.text.encodings import clean_text, decode_text
from hiersum.text.messages import is_mail_file, mail_parts, message_text

DOCUMENT_SUFFIXES = frozenset(
    ".txt .text .md .markdown .htm .html .xhtml .pdf .docx .eml .mbox .srt .vtt".split()
)
_MARKDOWN_SUFFIXES = frozenset({".md", ".markdown"})
_HTML_SUFFIXES = frozenset({".htm", ".html", ".xhtml"})
_GZIP = b"\x1f\x8b"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # the second: an empty archive
_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")  # between the columns of a page
_MIN_COLUMN_LINES = 5  # fewer are a table, or chance
_IMAGE = "an image; hiersum reads text only"
_SOUND = "a sound or film; hiersum reads text only"
_ARCHIVE = "an archive; unpack it first"
_SHEET = "a spreadsheet; save the text it holds as .txt or .docx"
_SLIDES = "a presentation; save it as .pdf"
_OTHER_OFFICE = "a file of another office program; save it as .docx or .pdf"
_BOOK = "an e-book; save it as .html or .txt"
_OLD_OFFICE = "an old Microsoft Office file; save it as .docx"
_RICH_TEXT = "a rich text file; save it as .docx or .txt"
_FOREIGN_NAMES = {
    suffix: what
    for what, suffixes in {
        _IMAGE: ".png .jpg .jpeg .gif .bmp .tif .tiff .webp .heic .avif .ico .svg .psd",
        _SOUND: ".mp3 .mp4 .m4a .wav .ogg .flac .avi .mov .mkv .webm",
        _ARCHIVE: ".zip .tar .tgz .7z .rar .bz2 .xz .zst",
        _SHEET: ".xlsx .xls .xlsm .xlsb .ods .numbers",
        _SLIDES: ".pptx .ppt .odp .key",
        _OTHER_OFFICE: ".odt .pages .wpd",
        _BOOK: ".epub .mobi .azw3",
        _OLD_OFFICE: ".doc",
        _RICH_TEXT: ".rtf",
    }.items()
    for suffix in suffixes.split()
}
_FOREIGN_BYTES = [
    (re.compile(magic, re.S), what)
    for magic, what in (
        (rb"\xd0\xcf\x11\xe0", _OLD_OFFICE),
        (rb"\{\\rtf", _RICH_TEXT),
        (
            rb"\x89PNG|\xff\xd8\xff|GIF8[79]a|II\*\0|MM\0\*|RIFF....WEBP|....ftyp(heic|mif1|avif)",
            _IMAGE,
        ),
        (rb"ID3[\2-\4]|OggS\0|fLaC\0|RIFF....(WAVE|AVI )|....ftyp|\x1a\x45\xdf\xa3", _SOUND),
        (rb"7z\xbc\xaf|Rar!\x1a|BZh[1-9]1AY&SY|\xfd7zXZ\0|\x28\xb5\x2f\xfd|.{257}ustar", _ARCHIVE),
        (rb"PAR1", "a Parquet file; name it .parquet and it is read as clusters"),
    )
]
# Detected by the names of their entries.
_FOREIGN_ARCHIVES = {
    "xl/": _SHEET,
    "ppt/": _SLIDES,
    "META-INF/container.xml": _BOOK,
    "content.xml": _OTHER_OFFICE,
}
_HTML_TAG = re.compile(rb"<(?:!doctype\s+html|html|head|body)\b", re.I)
# Scripts and comments without an end go to the end of the page, or hostile pages take hours.
_MARKUP = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)|<[^<>]*>", re.I | re.S)
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([\w-]{2,20})", re.I)
_LOOKS_MARKDOWN = re.compile(r"^#{1,6} \S|\[[^\]\n]{1,200}\]\(https?://", re.M)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.S)
_EXPANSION = 50  # refuse Word files that unpack to more than 50 times their size
_MAX_UNPACKED_BYTES = 64_000_000
_WORD_TEXT = re.compile(r"word/document\d*\.xml")
# Encodings a page may declare; others (punycode, UTF-16 in an ASCII page) are errors or attacks.
_WEB_ENCODINGS = frozenset(
    "utf-8 gbk gb2312 gb18030 big5 shift_jis euc_jp iso2022_jp euc_kr koi8-r koi8-u cp874".split()
)


@dataclass(frozen=True, slots=True)
class Extract:
    """The text of a file, its URL if it names one, and whether it was cut off."""

    text: str
    url: str = ""
    is_cut: bool = False


def kind_of(path: PurePath) -> str:
    """Return the lower-case suffix without `.gz`: `.jsonl` for `a.jsonl.gz`."""
    return PurePath(path.name.lower().removesuffix(".gz")).suffix


def named_kind(suffix: str) -> str | None:
    """Return what a file of another kind is by its name, and what to do with it; None if unknown."""
    return _FOREIGN_NAMES.get(suffix)


def extract_text(data: bytes, name: str, suffix: str, *, max_characters: int) -> Extract:
    """Return the text in a file's bytes; `suffix` may be empty."""
    if data.startswith(_GZIP):
        data = _gunzip(data, name, max_characters)
    elif name.lower().endswith(".gz"):
        raise InputError(f"{name}: damaged gzip file, or not one; if it is text, name it .txt")
    for magic, kind in _FOREIGN_BYTES:
        if magic.match(data):
            raise InputError(f"{name}: this is {kind}")
    if data.lstrip()[:5] == b"%PDF-" or (suffix == ".pdf" and b"%PDF-" in data[:1024]):
        pages = _joined(_pdf_pages(data, name), max_characters, between="\f")
        return replace(pages, text="\n".join(_without_running_lines(pages.text.split("\f"))))
    if what := named_kind(suffix):
        raise InputError(f"{name}: this is {what}")
    if data.startswith(_ZIP):
        return _joined(_docx_paragraphs(data, name, suffix), max_characters)
    if suffix in (".pdf", ".docx"):
        kind = "PDF" if suffix == ".pdf" else "Word file"
        raise InputError(f"{name}: damaged {kind}, or not one; if it is text, name it .txt")
    # A character has at most four bytes.
    is_cut = len(data) > 4 * max_characters
    data = data[: 4 * max_characters]
    starts_with_tag = data[:4096].lstrip().startswith(b"<")
    if suffix in _HTML_SUFFIXES or (starts_with_tag and _HTML_TAG.search(data, 0, 4096)):
        extract = _html_text(data, name)
    elif is_mail_file(data):
        extract = Extract(_mail_text(data, name))
    else:
        text = decode_text(data, name, is_cut=is_cut)
        is_markdown = suffix in _MARKDOWN_SUFFIXES or (not suffix and _LOOKS_MARKDOWN.search(text))
        extract = Extract(_markdown_text(text) if is_markdown else message_text(text))
    is_cut = is_cut or len(extract.text) > max_characters
    return Extract(_cut(extract.text, max_characters), extract.url, is_cut)


def _cut(text: str, max_characters: int) -> str:
    """Cut at the last line or sentence end before the limit."""
    if len(text) <= max_characters:
        return text
    text = text[:max_characters]
    end = max(text.rfind("\n", max_characters // 2), text.rfind(". ", max_characters // 2) + 1)
    return text[:end] if end > 0 else text


def _joined(parts: Iterator[str], max_characters: int, between: str = "\n") -> Extract:
    """Join parts up to the limit; later parts are not extracted."""
    kept: list[str] = []
    room = max_characters
    for part in parts:
        kept.append(part)
        room -= len(part) + 1
        if room < 0:
            break
    text = between.join(map(clean_text, kept))
    return Extract(_cut(text, max_characters), is_cut=room < 0)


def _gunzip(data: bytes, name: str, max_characters: int) -> bytes:
    limit = 4 * max_characters + 1
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            content = file.read(limit)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{name}: damaged gzip file ({error})") from error
    if len(content) == limit and content.startswith((b"%PDF-", *_ZIP)):
        raise InputError(f"{name}: unpacks to more than {limit:,} bytes; unpack it yourself first")
    return content


def _pdf_pages(data: bytes, name: str) -> Iterator[str]:
    import pypdf

    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError(f"{name}: the PDF is locked with a password; save it without one")
        for page in reader.pages:
            yield _page_text(page)
    except InputError:
        raise
    except Exception as error:  # pypdf raises many kinds of errors on damaged files
        raise InputError(f"{name}: damaged PDF ({_first_line(error)})") from error


def _page_text(page: Any) -> str:
    """Return the text of a page in the order of its file, but columns one after the other.

    Some programs write the rows of two columns from left to right; most write columns in order.
    """
    starts: list[float] = []

    def see(operator: bytes, _: object, page_matrix: list[float], matrix: list[float]) -> None:
        if operator in (b"Tj", b"TJ", b"'", b'"'):
            starts.append(matrix[4] + page_matrix[4])

    text: str = page.extract_text(visitor_operand_before=see)
    # The right column begins at one place, again and again after something on its left.
    after = Counter(round(x) for before, x in pairwise(starts) if before < x)
    if max(after.values(), default=0) < _MIN_COLUMN_LINES:
        return text
    rows = page.extract_text(extraction_mode="layout", layout_mode_space_vertically=False)
    return _by_columns(rows.split("\n")) or text


def _by_columns(rows: list[str]) -> str:
    """Return rows of a page column by column; nothing unless most rows are two long lines."""
    gaps = [max(_GAP.finditer(row), key=lambda gap: len(gap[0]), default=None) for row in rows]
    pairs = [(row[: gap.start()], row[gap.end() :]) for row, gap in zip(rows, gaps) if gap]
    long = [pair for pair in pairs if all(len(part.split()) > 3 for part in pair)]
    if len(long) < max(_MIN_COLUMN_LINES, sum(bool(row.strip()) for row in rows) / 2):
        return ""
    width = max(len(left) for left, _ in long)
    done, left, right = list[str](), list[str](), list[str]()
    for row, gap in zip(rows, gaps):
        if gap:
            left.append(row[: gap.start()].strip())
            right.append(row[gap.end() :].strip())
        elif len(row.rstrip()) <= width:
            left.append(row.strip())
        elif len(row) - len(row.lstrip()) > width // 2:
            right.append(row.strip())
        else:  # across both columns
            done += [*left, *right, row.strip()]
            left, right = [], []
    return "\n".join([*done, *left, *right])


def _without_running_lines(pages: list[str]) -> Iterator[str]:
    """Yield the pages of a PDF without the headers and footers that most of them share."""
    lines_of = [page.strip().split("\n") for page in pages]
    counts = Counter(
        key for lines in lines_of for key in {_running_key(lines[n]) for n in _edges(lines)}
    )
    shared = {key for key, number in counts.items() if number > max(2, len(pages) // 2)}
    for lines in lines_of:
        running = {n for n in _edges(lines) if _running_key(lines[n]) in shared}
        yield "\n".join(line for n, line in enumerate(lines) if n not in running)


def _edges(lines: list[str]) -> set[int]:
    """Return the numbers of the first and last lines of a page with some more than these.

    Some programs write the footer right after the header, before the text.
    """
    numbers = range(len(lines))
    return {*numbers[:4], *numbers[-4:]} if len(lines) > 4 else set()


def _running_key(line: str) -> str:
    """Return a line without what changes from page to page: its number, and space."""
    return re.sub(r"[\d\s]+|\b[ivxlc]+\b", "", line)


def _docx_paragraphs(data: bytes, name: str, suffix: str) -> Iterator[str]:
    """Yield the paragraphs of a Word file; nothing but its text is unpacked, no images."""
    import docx
    from docx.document import Document
    from docx.oxml import parse_xml

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entry = _word_text(archive.infolist(), name)
            limit = min(_EXPANSION * len(data), _MAX_UNPACKED_BYTES)
            if entry.file_size > limit:
                raise InputError(
                    f"{name}: the text of the Word file unpacks to more than {limit:,} bytes"
                )
            document = Document(parse_xml(archive.read(entry)), None)  # type: ignore[arg-type]
        for block in document.iter_inner_content():
            if isinstance(block, docx.table.Table):
                for row in block.rows:
                    yield from dict.fromkeys(cell.text for cell in row.cells)
            else:
                yield block.text
    except InputError:
        raise
    except Exception as error:  # zipfile and python-docx raise many kinds on damaged files
        kind = "Word file" if suffix == ".docx" else "Word file or other archive"
        raise InputError(f"{name}: damaged {kind} ({_first_line(error)})") from error


def _word_text(entries: list[zipfile.ZipInfo], name: str) -> zipfile.ZipInfo:
    """Return the entry with the text of a Word file; refuse other archives for what they are."""
    for entry in entries:
        if _WORD_TEXT.fullmatch(entry.filename):
            return entry
    for start, what in _FOREIGN_ARCHIVES.items():
        if any(entry.filename.startswith(start) for entry in entries):
            raise InputError(f"{name}: this is {what}")
    raise InputError(f"{name}: this is a zip archive but not a .docx file; unpack it first")


def _html_text(data: bytes, name: str) -> Extract:
    import trafilatura

    html = _decode_declared(data) or decode_text(data, name)
    try:
        tree = trafilatura.load_html(html)
        if tree is None:  # named .html, but without markup
            return Extract(html)
        addresses = tree.xpath(
            "//link[@rel='canonical']/@href | //meta[@property='og:url']/@content"
        )
        text = trafilatura.extract(tree, include_comments=False, include_tables=False)
        # Short pages have no main part: take all text except menus and scripts.
        text = text or trafilatura.html2txt(html)
        if not text.strip():  # too deeply nested, or nothing but bare tags
            text = unescape(_MARKUP.sub("\n", html))
    except Exception as error:  # trafilatura raises many kinds of errors on broken markup
        raise InputError(f"{name}: HTML that cannot be read ({_first_line(error)})") from error
    url = next((a for a in addresses if a.startswith(("http://", "https://"))), "")
    return Extract(clean_text(text), clean_text(url))


def _mail_text(data: bytes, name: str) -> str:
    try:
        mails = list(mail_parts(data))
    except Exception as error:  # the email package raises many kinds of errors on damaged mail
        raise InputError(f"{name}: damaged mail ({_first_line(error)})") from error
    texts = []
    for headers, text, is_html in mails:
        if is_html:  # with a byte-order mark: the page may declare the encoding that the mail had
            text = _html_text(codecs.BOM_UTF8 + text.encode("utf-8", "replace"), name).text
        texts.append(message_text(clean_text(f"{headers}\n\n{text}")))
    return "\n".join(texts)


def _decode_declared(data: bytes) -> str | None:
    """Decode a page in its declared encoding; None if it declares none, or a wrong one."""
    declared = _META_CHARSET.search(data[:4096])
    if declared is None or data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return None
    try:
        name = codecs.lookup(declared[1].decode("ascii")).name
        if name in ("iso8859-1", "ascii"):
            name = "cp1252"  # as every browser does
        if name not in _WEB_ENCODINGS and not name.startswith(("cp125", "iso8859-")):
            return None
        return clean_text(data.decode(name, errors="replace" if name == "cp1252" else "strict"))
    except (LookupError, ValueError):
        return None


def _markdown_text(text: str) -> str:
    """Return the prose of a Markdown file, one paragraph per line, without code and images."""
    from markdown_it import MarkdownIt

    lines = []
    for token in MarkdownIt("commonmark").enable("table").parse(_FRONT_MATTER.sub("", text)):
        if token.type == "inline":
            children = token.children or []
            visible = ("text", "code_inline", "softbreak", "hardbreak")
            words = [child.content or " " for child in children if child.type in visible]
            lines.append("".join(words).strip())
    return "\n".join(lines)


def _first_line(error: Exception) -> str:
    return str(error).split("\n")[0][:200] or type(error).__name__
