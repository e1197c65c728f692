"""Decode bytes of any encoding to clean text, and refuse binary data.

Tried in order: a byte-order mark, UTF-16 without a mark, UTF-8, lines of UTF-8 mixed with lines of
Windows-1252, and a detector's guess.
"""

from __future__ import annotations

import codecs
import re
import unicodedata

from charset_normalizer import from_bytes

from hiersum.errors import InputError
from hiersum.text.languages import detect_language

_MARKS = [
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]
_SAMPLE_BYTES = 1 << 16
_MAX_CONTROL_SHARE = 0.02  # text has nearly none; random bytes have 10 %
_CONTROL_BYTES = bytes(range(9)) + bytes(range(14, 27)) + bytes(range(28, 32))
_MAX_WESTERN_SHARE = 0.25
_CENTRAL_LANGUAGES = frozenset("pl cs sk hu hr sl sr bs ro sq tr lt lv et".split())
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
# Control characters (which terminals would obey), lone surrogates (which cannot be encoded), and
# invisible formatting, such as overrides that show text backwards. Joiners and direction marks are
# kept: Persian, Hindi and Arabic need them.
_UNWANTED = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff"
    "\ufff9-\ufffb\ud800-\udfff]"
)


def decode_text(data: bytes, name: str, *, is_cut: bool = False) -> str:
    """Return bytes as clean text; they may be cut off at a limit, even within a character."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return clean_text(data[len(mark) :].decode(encoding, errors="replace"))
    if utf16 := _utf16_without_mark(data):
        return clean_text(data.decode(utf16, errors="replace"))
    _refuse_binary(data, name)
    try:
        return clean_text(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        if is_cut and error.start >= len(data) - 4:
            return clean_text(data[: error.start].decode("utf-8"))
    return clean_text(_decode_mixed_lines(data) or _decode_by_detection(data))


def clean_text(text: str) -> str:
    """Normalize line ends, spaces and accents, and drop control and invisible characters."""
    if not text.isprintable():  # printable text has nothing to replace
        text = _LINE_ENDS.sub("\n", text).expandtabs(4)
        text = _UNWANTED.sub("", _SPACES.sub(" ", text))
    # PDF files and macOS separate accents from letters.
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _utf16_without_mark(data: bytes) -> str | None:
    """Detect Western UTF-16: nearly every second byte is zero, hardly any other."""
    sample = data[:_SAMPLE_BYTES]
    num_even, num_odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if half and num_odd > 0.4 * half and num_even < 0.05 * half:
        return "utf-16-le"
    if half and num_even > 0.4 * half and num_odd < 0.05 * half:
        return "utf-16-be"
    return None


def _refuse_binary(data: bytes, name: str) -> None:
    middle = len(data) // 2
    for sample in (data[:_SAMPLE_BYTES], data[middle : middle + _SAMPLE_BYTES]):
        num_control = len(sample) - len(sample.translate(None, _CONTROL_BYTES))
        if num_control > max(1, _MAX_CONTROL_SHARE * len(sample)):
            raise InputError(
                f"{name}: looks like a binary file, not text; "
                "give .txt, .md, .html, .pdf, .docx, .eml, .srt, .vtt, or gzip of these"
            )


def _decode_mixed_lines(data: bytes) -> str | None:
    """Decode line by line if most lines are UTF-8 and others Windows-1252; else None."""
    lines: list[str] = []
    num_utf8 = num_other = 0
    for line in data.split(b"\n"):
        try:
            text = line.decode("utf-8")
            num_utf8 += not line.isascii()
        except UnicodeDecodeError:
            text = line.decode("cp1252", errors="replace")
            num_other += 1
        lines.append(text)
    # A short line in another encoding may be valid UTF-8 by chance.
    return "\n".join(lines) if num_utf8 >= num_other else None


def _decode_by_detection(data: bytes) -> str:
    # Detection is slow, and a sample around the first non-ASCII byte is enough.
    first = next(re.finditer(rb"[\x80-\xff]", data)).start()
    sample = data[max(0, first - 1024) : first + (_SAMPLE_BYTES >> 1)]
    guess = from_bytes(sample).best()
    encoding = guess.encoding if guess else "cp1252"
    num_non_ascii = len(sample) - len(sample.translate(None, bytes(range(128, 256))))
    if num_non_ascii < _MAX_WESTERN_SHARE * len(sample):
        # Detectors mistake Western text with few accents for Polish, Baltic or Japanese. Trust them
        # only if the decoded text is in such a language.
        language = detect_language(sample.decode(encoding, errors="replace"))
        encoding = encoding if language in _CENTRAL_LANGUAGES else "cp1252"
    return data.decode(encoding, errors="replace")
