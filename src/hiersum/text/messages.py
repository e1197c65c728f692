"""Turn mail, chat logs and subtitles into prose: what was said, without the machinery around it.

Each kind is recognized by its lines; any other text comes back as it is.
"""

from __future__ import annotations

import email
import re
from collections.abc import Iterator
from email.message import EmailMessage
from email.policy import EmailPolicy, Policy
from itertools import count
from typing import Any

from hiersum.text.sentences import ends_sentence

_HEADER = re.compile(r"(?:From|To|Cc|Bcc|Date|Sent|Subject|Reply-To|Von|An|Datum|Betreff): ?(.*)")
_MIME = re.compile(
    rb"\A(?:[A-Za-z][\w-]*:.*\r?\n(?:[ \t].*\r?\n)*)*(?:MIME-Version|Content-Type):", re.I
)
_MAILBOX = re.compile(rb"^From \S+ .{10,60}\r?\n(?=[A-Za-z][\w-]*:)", re.M)
_WROTE = re.compile(
    r"(?:On|Am|Le|El|Il|Op) .{6,150}(?:wrote|schrieb.{0,80}|a écrit|escribió|ha scritto|schreef) ?:"
    r"|-+ ?(?:Original|Forwarded) [Mm]essage ?-+"
)
_QUOTE = re.compile(r"(?:> ?)+")
_SIGNATURE = "--"
_LIST_ITEM = re.compile(r"[-*\u2022]\s|\(?\d{1,3}[.)]\s")
_MIN_FULL_LINE = 55  # a shorter line of a mail ends where its author ended it
_TIME = r"\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp]\.?[Mm]\.?)?"
_DAY = r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4}"
# A time alone also begins the lines of timetables, so it must be in brackets, or the name.
_STAMP = re.compile(rf"(?:\[?{_DAY},?\s{_TIME}\]?(?:\s[-\u2013])?\s|\[{_TIME}\]\s|{_TIME}\s(?=<))")
_CHAT = re.compile(_STAMP.pattern + r"<?([^:<>\n]{1,40})[:>]\s?(.*)")
_NO_MESSAGE = re.compile(
    r"<.{3,40}>|.{0,30}\bomitted|.{0,12}message (?:was|has been) deleted\.?"
    r"|.*end-to-end encrypted.*",
    re.I,
)
_CUE = re.compile(r"\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{3} --> (?:\d+:)?\d{1,2}:\d{2}[.,]\d{3}.*")
_CUE_MARKUP = re.compile(r"</?[a-zA-Z\d][^<>]{0,40}>|\{\\[^{}]{1,20}\}")
_CUE_COMMENT = re.compile(r"(?:NOTE|STYLE|REGION)\b")
_MIN_LINES = 3
_MAX_HEADER_CHARACTERS = 2_000
_MAX_PARTS = 1_000


def is_mail_file(data: bytes) -> bool:
    """Whether these bytes are a mail as programs store it (.eml), or a mailbox of them (.mbox)."""
    return any(kind.match(data[:20_000]) for kind in (_MIME, _MAILBOX))


class _ShortHeaders(EmailPolicy):
    """Read the beginning of a header: the time that its parser takes grows with the square."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        return super().header_fetch_parse(name, value[:_MAX_HEADER_CHARACTERS])


def mail_parts(data: bytes) -> Iterator[tuple[str, str, bool]]:
    """Yield of each stored mail its headers, as lines, its body, and whether that is HTML."""
    number = count()

    def new_part(policy: Policy[Any]) -> EmailMessage:
        if next(number) > _MAX_PARTS:
            raise ValueError(f"more than {_MAX_PARTS:,} parts")
        return EmailMessage(policy)

    policy = _ShortHeaders(message_factory=new_part)
    for mail in filter(None, _MAILBOX.split(data)):
        message = email.message_from_bytes(mail, policy=policy)
        assert isinstance(message, EmailMessage)
        names = [name for name in ("From", "Date", "Subject") if message[name]]
        headers = "\n".join(f"{name}: {message[name]}" for name in names)
        body = message.get_body(("plain", "html"))
        if body is None:
            yield headers, "", False
        else:
            yield headers, str(body.get_content()), body.get_content_subtype() == "html"


def message_text(text: str) -> str:
    """Return what mail, chat or subtitles say, a paragraph per line; other text unchanged."""
    lines = text.split("\n")
    if sum(map(_is_cue, lines)) >= 2:
        return "\n".join(_subtitles(lines))
    filled = [line for line in lines if line.strip()]
    stamped = [line for line in filled if _STAMP.match(line)]
    if len(stamped) > 0.5 * len(filled) and sum(map(bool, map(_CHAT.match, stamped))) >= _MIN_LINES:
        return "\n".join(_chat(lines))
    if _num_headers(lines) >= 2 or any(_WROTE.fullmatch(line.strip()) for line in lines):
        return "\n".join(_mail(lines))
    return text


def _is_cue(line: str) -> bool:
    return "-->" in line and _CUE.fullmatch(line) is not None


def _subtitles(lines: list[str]) -> Iterator[str]:
    """Yield sentences, which run on from one subtitle to the next."""
    said: list[str] = []
    in_cue, last = False, ""
    for before, line, after in zip(["", *lines], lines, [*lines[1:], ""]):
        if _is_cue(line):
            in_cue = True
        elif not before.strip() and _CUE_COMMENT.match(line):
            in_cue = False
        line = _CUE_MARKUP.sub("", line).strip()
        # Captions that roll up show each line again below the next.
        if not line or not in_cue or line == last or _is_cue(line) or _is_cue(after):
            continue
        last = line
        said.append(line)
        if ends_sentence(line):
            yield " ".join(said)
            said = []
    yield " ".join(said)


def _chat(lines: list[str]) -> Iterator[str]:
    """Yield each message behind the name of its writer, without the time."""
    current: list[str] = []
    for line in [*lines, "[00:00] end: "]:
        if _STAMP.match(line) is None:
            current.append(line.strip())
            continue
        if current and not _NO_MESSAGE.fullmatch(current[0].partition(": ")[2]):
            yield " ".join(filter(None, current))
        match = _CHAT.match(line)  # without a name, the program speaks: "Maya created the group"
        current = [f"{match[1].strip()}: {match[2].strip()}"] if match else []


def _num_headers(lines: list[str]) -> int:
    """Return the number of header lines with which a text begins."""
    number = 0
    for line in (line for line in lines[:30] if line.strip()):
        if not _HEADER.match(line):
            break
        number += 1
    return number


def _mail(lines: list[str]) -> Iterator[str]:
    """Yield the paragraphs of a thread, quoted ones too, without headers and signatures."""
    paragraph = last = ""
    in_signature = False
    for number, line in enumerate(lines):
        depth = _QUOTE.match(line)
        line = line[depth.end() if depth else 0 :].strip()
        header = _HEADER.match(line)
        is_quoted_by = _WROTE.fullmatch(line) is not None
        starts_headers = (
            header is not None
            and _num_headers([_QUOTE.sub("", each, count=1) for each in lines[number:][:30]]) >= 2
        )
        if in_signature and not (depth or is_quoted_by or starts_headers):
            continue
        in_signature = line == _SIGNATURE
        if header and (starts_headers or not last):
            line, last = _header_line(line, header[1]), ""
            yield from filter(None, (paragraph, line))
            paragraph = ""
            continue
        if is_quoted_by or in_signature:
            line = ""
        if line and len(last) >= _MIN_FULL_LINE and not _LIST_ITEM.match(line):
            paragraph += f" {line}"
        else:
            yield from filter(None, [paragraph])
            paragraph = line
        last = line
    yield paragraph


def _header_line(line: str, value: str) -> str:
    """Return what a header tells a reader: who wrote, when, about what; empty for others."""
    if not line.startswith(("From", "Von", "Date", "Sent", "Datum", "Subject", "Betreff")):
        return ""
    return re.sub(r"\s*<[^<>]*>|^(?:(?:Re|Fwd?|AW|WG): ?)+", "", value, flags=re.I).strip()
