"""What people write to one another is read as prose; each file in fixtures/real is one example."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hiersum import Summarizer
from hiersum.errors import InputError
from hiersum.text.documents import read_document
from hiersum.text.messages import mail_parts, message_text
from hiersum.text.paragraphs import is_fragment, split_document

REAL = Path(__file__).parents[1] / "fixtures" / "real"


def prose(name: str) -> list[str]:
    """Return the paragraphs of an example that may be summarised."""
    document, _ = read_document(REAL / name)
    return [text for text in split_document(document) if not is_fragment(text)]


def test_mail_is_read_with_its_quotes_and_without_headers_and_signatures() -> None:
    assert prose("mail.txt") == [
        "the council agreed last night to keep the library open until eight on Thursdays. The pilot "
        "starts on 1 June and runs for six months. We will need two more people at the desk, and the "
        "budget covers 9,400 pounds for them.",
        "Could you ask the volunteers whether they would take the late shift?",
        "the survey is done. Of 612 visitors, 431 asked for a late evening, and most of them named "
        "Thursday. The school would use the study room twice a week.",
        "Tom, when will the survey of the visitors be finished? The council meets on Monday evening.",
    ]
    whole = read_document(REAL / "mail.txt")[0].text
    assert whole.startswith(
        "Anna Reed\nTue, 12 May 2026 09:14:22 +0100\nOpening hours of the library"
    )
    assert not any(part in whole for part in ("@", "Tel.", "wrote:", ">", "environment"))


def test_stored_mail_is_decoded() -> None:
    assert prose("stored.eml") == [
        "The café at the harbour reopens on 4 July, after the roof was mended. It will have forty "
        "seats outside."
    ]
    whole = read_document(REAL / "stored.eml")[0].text
    assert whole.startswith("Zoë Reed\n")
    assert "Café at the harbour" in whole


def test_stored_html_mail_is_read_as_a_page(tmp_path: Path) -> None:
    page = (
        '<html><head><meta charset="iso-8859-1"></head><body><p>Das Café am Hafen öffnet am Montag.'
        "</p><p>Es hat vierzig Plätze im Freien, sagte die Stadt.</p></body></html>"
    )
    header = "MIME-Version: 1.0\nSubject: x\nContent-Type: text/html; charset=iso-8859-1\n\n"
    (tmp_path / "a.eml").write_bytes((header + page).encode("latin-1"))
    text = read_document(tmp_path / "a.eml")[0].text
    assert "Das Café am Hafen öffnet am Montag." in text
    assert "<" not in text


def test_mail_with_a_long_header_is_read_at_once() -> None:
    # The time that its parser takes grows with the square of the characters.
    header = f"MIME-Version: 1.0\nSubject: Bridge\nContent-Type: text/plain; {'[' * 1_000_000}\n\n"
    started = time.process_time()
    [(headers, body, _)] = mail_parts(f"{header}The bridge is open.".encode())
    assert time.process_time() - started < 5
    assert (headers, body) == ("Subject: Bridge", "The bridge is open.")


def test_mail_of_too_many_parts_is_refused(tmp_path: Path) -> None:
    header = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n"
    (tmp_path / "a.eml").write_text(header + "--x\n\nThe bridge is open.\n" * 990 + "--x--\n")
    assert "The bridge is open." in read_document(tmp_path / "a.eml")[0].text
    (tmp_path / "a.eml").write_text(header + "--x\n\nThe bridge is open.\n" * 1_010 + "--x--\n")
    with pytest.raises(InputError, match=r"a.eml: damaged mail \(more than 1,000 parts\)"):
        read_document(tmp_path / "a.eml")


def test_mailbox_is_read_mail_by_mail() -> None:
    said = [
        "The engineers finished their survey of the pool. The roof is sound, but the pump room floods "
        "every time it rains, and repairs cost £184,000.",
        "The club can raise £20,000 with a sponsored swim in July. I would close the pool from 1 June, "
        "before the schools need it again.",
        "The council told me that it will match every pound that we raise, up to 30,000 pounds.",
    ]
    assert prose("thread.mbox") == said
    whole = read_document(REAL / "thread.mbox")[0].text
    assert [name for name in ("Anna Reed", "Tom Hill", "Priya Nair") if name in whole] == [
        "Anna Reed",
        "Tom Hill",
        "Priya Nair",
    ]
    assert not any(part in whole for part in ("@", "Received", "=C2", "b1", "<html>"))


@pytest.mark.parametrize(
    "notice",
    [
        "This email and any attachments are confidential and intended solely for the addressee.",
        "If you have received this message in error, please notify the sender and delete it.",
    ],
)
def test_notices_below_mails_are_no_prose(notice: str) -> None:
    assert is_fragment(notice)
    assert not is_fragment("The report was deleted in error, and the council asked for a copy.")


def test_chat_is_read_with_names_and_without_times() -> None:
    assert prose("chat.txt") == [
        "Maya: did everyone get home ok after the flood warning?",
        "Ben: yes but Mill Lane is closed, the water is up to the wall",
        "Priya: the fire brigade is pumping out the cellar of the Red Lion",
        "Ben: they say the bridge stays closed until Thursday morning",
        "Omar: school is shut tomorrow, just got the message from the head",
        "Omar: sandbags can be picked up at the town hall until ten tonight",
    ]


@pytest.mark.parametrize(
    "start",
    ["[18:02] Ben: ", "18:02 <Ben> ", "2026-05-12 18:02 - Ben: ", "5/12/26, 6:02 PM - Ben: "],
)
def test_chat_is_known_in_other_forms(start: str) -> None:
    said = ["the bridge is shut", "it opens on Friday", "take the ferry"]
    assert message_text("\n".join(start + text for text in said)) == "\n".join(
        f"Ben: {text}" for text in said
    )


def test_what_a_chat_program_says_itself_is_left_out() -> None:
    lines = [
        "12/05/2026, 18:02 - Messages and calls are end-to-end encrypted. No one can read them.",
        '12/05/2026, 18:02 - Maya created group "Allotment"',
        "12/05/2026, 18:03 - Maya: the standpipe has burst again",
        "the whole path is under water",
        "12/05/2026, 18:04 - Omar left",
        "12/05/2026, 18:05 - Ben: I turned it off at the main",
        "12/05/2026, 18:06 - Ben: the plumber comes on Thursday",
        "12/05/2026, 18:07 - Maya: the school has water until then",
    ]
    assert message_text("\n".join(lines)).split("\n") == [
        "Maya: the standpipe has burst again the whole path is under water",
        "Ben: I turned it off at the main",
        "Ben: the plumber comes on Thursday",
        "Maya: the school has water until then",
    ]


def test_captions_that_roll_up_are_read_once_and_without_comments() -> None:
    captions = """WEBVTT
Kind: captions
Language: en

STYLE
::cue { color: yellow }

00:00:00.480 --> 00:00:02.790 align:start position:0%
{blank}
today<00:00:01.280><c> we</c><00:00:01.439><c> look</c> at the mill

00:00:02.790 --> 00:00:02.800
today we look at the mill
{blank}

00:00:02.800 --> 00:00:05.190
today we look at the mill
which was<00:00:03.400><c> bought</c> by the town.

NOTE the speaker changes
and coughs

7
00:00:06.000 --> 00:00:08.000
<v Dr. Ellis>Note that the wheel turns again.</v>
"""
    assert message_text(captions.replace("{blank}", " ")).split("\n") == [
        "today we look at the mill which was bought by the town.",
        "Note that the wheel turns again.",
        "",
    ]


def test_subtitles_are_read_as_sentences() -> None:
    assert prose("subtitles.srt") == [
        "The glacier above the village has lost forty metres of ice in ten years.",
        "Ranger: Every spring we measure the edge, and every spring it is further up.",
        "The stream that feeds the mill now runs dry in August.",
        "So the farmers are building a reservoir for the summer.",
    ]
    web = "WEBVTT\n\n00:01.000 --> 00:04.000\nThe mill\nis closed.\n\n00:05.000 --> 00:06.000\nStill.\n"
    assert message_text(web).split("\n") == ["The mill is closed.", "Still.", ""]


@pytest.mark.parametrize(
    "text",
    [
        "9:00 Opening: the mayor speaks\n9:30 Walk: along the harbour\n10:00 Lunch: soup",
        "Note: the bridge is shut.\nFrom: Monday on, ferries sail.\nIt is so.",
        "He wrote:\n> quoted by hand\nand went on.",
        "1\n2\n3 --> 4\n",
        "To: the editor",
    ],
)
def test_other_text_is_left_alone(text: str) -> None:
    assert message_text(text) == text


@pytest.mark.parametrize(
    ("name", "kept", "left_out"),
    [
        ("minutes.txt", "The meeting agreed, with one vote against.", "4. Any other business"),
        ("readme.md", "The lock is closed automatically at 4.5 metres.", "pip install"),
        ("oneline.txt", "The roof is unsafe, engineers found in July.", "Harbour pool to close"),
        ("shopping.txt", "two loaves of bread", "error"),
    ],
)
def test_summaries_of_other_kinds_quote_what_was_said(name: str, kept: str, left_out: str) -> None:
    summary = Summarizer().summarize([REAL / name])
    texts = [sentence.text for sentence in summary.sentences]
    assert kept in texts
    assert not any(left_out in text for text in texts)
