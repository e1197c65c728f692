"""The server and its description agree: schemathesis makes requests from one and judges the answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from servers import running

from hiersum import Summarizer

# Not checked: whether all that the description allows is answered, as a document may be empty and a
# file may be damaged; and whether all else is refused, as numbers are taken in quotation marks, too.
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_headers_conformance,response_schema_conformance,unsupported_method,"
    "missing_required_header,ignored_auth"
)


@pytest.mark.slow
@pytest.mark.parametrize("key", [None, "s3cret"])
def test_no_request_breaks_the_server_or_its_promises(key: str | None, tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("st")
    with running(Summarizer(), key) as client:
        # The first report loads a model of names, which takes longer than a request may.
        client.post("/v1/summarize", json={"documents": ["Ann left."], "report": True})
        line = [
            program,
            "run",
            f"{client.base_url}/openapi.json",
            "--checks",
            CHECKS,
            "--seed",
            "1",
        ]
        line += [
            "--max-examples",
            "60",
            "--max-time",
            "90",
            "--request-timeout",
            "60",
            "--no-color",
        ]
        line += ["--header", f"Authorization: Bearer {key}"] if key else []
        # Schemathesis keeps what it found in the folder where it runs.
        done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
