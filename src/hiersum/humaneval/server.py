"""The web server of a study: the judges' page and the marking page.

It listens on this machine only, unless told otherwise. The secret in a link identifies a judge;
without a valid one, nothing is shown. Answers are checked against their task and acknowledged only
once they are on disk.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles

from hiersum.data.records import parse_json
from hiersum.errors import DataError, HiersumError, InputError
from hiersum.humaneval.answers import (
    AnswerStore,
    ConflictError,
    Mark,
    StorageError,
    Submission,
    group_answers,
    save_marks,
)
from hiersum.humaneval.study import (
    PAGES,
    Links,
    Study,
    checked_answers,
    checked_seconds,
    judge_view,
)
from hiersum.serving.messages import RequestError, read_body

MAX_BODY, MAX_MARKS_BODY = 64_000, 4_000_000
_BODY_SECONDS = 60
_MAX_SEQUENCE = 10**9
_HEADERS = {
    # Links are secret: do not leak them as referrers; load nothing from elsewhere.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


def build_app(study: Study, links: Links, store: AnswerStore) -> FastAPI:
    """Return the web application of a study."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.mount("/static", StaticFiles(directory=PAGES))

    @app.middleware("http")
    async def add_headers(
        request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        response = await call_next(request)
        response.headers.update(_HEADERS)
        return response

    @app.exception_handler(HiersumError)
    async def refuse(request: Request, error: HiersumError) -> JSONResponse:
        return JSONResponse({"error": str(error)}, _status(error))

    @app.get("/")
    def front() -> HTMLResponse:
        return _page("front.html")

    @app.get("/judge/{token}")
    def judge_page(token: str) -> HTMLResponse:
        return _page("judge.html") if links.judge_of(token) else _page("front.html", 404)

    @app.get("/api/judge/{token}")
    def judge_state(token: str) -> dict[str, Any]:
        judge = _judge(links, token)
        view = judge_view(study, judge, with_ratings=store.has_begun_ratings(judge))
        saved = {s.task: {"answers": s.answers, "seconds": s.seconds} for s in store.current(judge)}
        return {**view, "saved": saved}

    @app.post("/api/judge/{token}/ratings")
    def begin_ratings(token: str) -> dict[str, Any]:
        judge = _judge(links, token)
        store.begin_ratings(judge)
        return judge_view(study, judge, with_ratings=True)

    @app.post("/api/judge/{token}/answers")
    async def answer(token: str, request: Request) -> dict[str, Any]:
        submission = _submission(study, _judge(links, token), await _body(request, MAX_BODY))
        return {"outcome": await asyncio.to_thread(_save, study, store, submission)}

    @app.get("/mark/{token}")
    def mark_page(token: str) -> HTMLResponse:
        return _page("mark.html") if links.is_marker(token) else _page("front.html", 404)

    @app.get("/api/mark/{token}")
    def mark_state(token: str) -> dict[str, Any]:
        _check_marker(links, token)
        return {"study": study.id, "groups": _groups(study, store)}

    @app.post("/api/mark/{token}")
    async def mark(token: str, request: Request) -> dict[str, Any]:
        _check_marker(links, token)
        body = await _body(request, MAX_MARKS_BODY)
        await asyncio.to_thread(save_marks, study, store, _marks(body.get("marks")))
        return {"outcome": "saved"}

    return app


def _status(error: HiersumError) -> int:
    if isinstance(error, RequestError):
        return error.status
    if isinstance(error, ConflictError):
        return 409
    # A busy or full database is not the judge's fault; on 503 the page retries.
    return 503 if isinstance(error, (DataError, StorageError)) else 422


def _page(name: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse((PAGES / name).read_bytes(), status)


def _judge(links: Links, token: str) -> str:
    judge = links.judge_of(token)
    if judge is None:
        raise RequestError(404, "this link is not one of the study's; ask for yours again")
    return judge


def _check_marker(links: Links, token: str) -> None:
    if not links.is_marker(token):
        raise RequestError(404, "this link is not the one for marking; ask for it again")


async def _body(request: Request, max_bytes: int) -> dict[str, Any]:
    name = "the request"
    data = await read_body(
        request, name, kind="application/json", max_bytes=max_bytes, seconds=_BODY_SECONDS
    )
    try:
        body = parse_json(data, name)
    except DataError as error:
        raise InputError(str(error)) from error
    if not isinstance(body, dict):
        raise InputError(f"{name} must be a JSON object")
    return body


def _submission(study: Study, judge: str, body: dict[str, Any]) -> Submission:
    task = study.task.get(str(body.get("task")))
    if task is None or task.judge != judge:
        raise InputError(f"{json.dumps(body.get('task'))[:40]} is not a task of this link")
    session, sequence = body.get("session"), body.get("sequence")
    if not isinstance(session, str) or not 8 <= len(session) <= 64 or not session.isalnum():
        raise InputError("session must be 8 to 64 letters and digits")
    if type(sequence) is not int or not 0 < sequence < _MAX_SEQUENCE:
        raise InputError(f"sequence must be a whole number from 1 to {_MAX_SEQUENCE - 1:,}")
    answers = checked_answers(study, task, body.get("answers"))
    seconds = checked_seconds(body.get("seconds"))
    return Submission(judge, task.id, session, sequence, answers, seconds)


def _save(study: Study, store: AnswerStore, submission: Submission) -> str:
    if study.task[submission.task].kind == "qa" and store.has_begun_ratings(submission.judge):
        known = {s.task: s.answers for s in store.current(submission.judge)}
        if known.get(submission.task) != submission.answers:
            raise InputError(
                f"task {submission.task}: part 1 is closed, because part 2 shows what was asked"
            )
        return "known"
    return store.save(submission)[0]


def _marks(records: Any) -> list[Mark]:
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise InputError('"marks" must be a list of objects with item, question, key and mark')
    return [
        Mark(str(r.get("item")), str(r.get("question")), str(r.get("key")), r.get("mark"))
        for r in records
    ]


def _groups(study: Study, store: AnswerStore) -> list[dict[str, Any]]:
    return [
        {
            "item": group.item.id,
            "title": group.item.title,
            "gold": group.item.gold,
            "question": group.question.id,
            "text": group.question.text,
            "right": list(group.question.answers),
            "key": group.key,
            "answers": list(group.texts[:5]),
            "count": group.count,
            "proposed": group.proposal.mark,
            "reason": group.proposal.reason,
            "is_match": group.proposal.mark == 1,
            "mark": group.mark,
        }
        for group in group_answers(study, store.current(), store.marks())
    ]
