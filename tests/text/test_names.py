"""Names are found by their capitals, but not where a sentence made the capital."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiersum.text.names import acronym, find_names, name_words


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The bridge in Port Ellery is open.", ["Port Ellery"]),
        ("Cars are back. Buses too.", []),
        ("Berlin is big. I like Berlin.", ["Berlin", "Berlin"]),
        ("NATO met. K2 is high. McAvoy spoke.", ["NATO", "K2", "McAvoy"]),
        ("At the University of Oxford of old", ["University of Oxford"]),
        ("President Anna M. Hale's office", ["President Anna M. Hale's"]),
        ("PORT ELLERY - The ferry sank.", ["PORT ELLERY"]),
        ("Twelve K2 sensors drifted.", ["K2"]),
        ("On Monday in June I said OK.", []),
        ("We saw Paris, London and Rome", ["Paris", "London", "Rome"]),
        ("J. R. R. Tolkien and U.S. troops", ["J. R. R. Tolkien", "U.S."]),
        ("We met Jos\u00e9 P\u00e9rez-Garc\u00eda.", ["Jos\u00e9 P\u00e9rez-Garc\u00eda"]),
        ("\u6865\u6881\u5f00\u653e\u4e86\u3002", []),
        ("", []),
    ],
)
def test_names_are_found(text: str, names: list[str]) -> None:
    assert [text[name.start : name.end] for name in find_names(text)] == names


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("We met President Anna M. Hale's", "anna hale"),
        ("We met Jos\u00e9 P\u00e9rez-Garc\u00eda", "jose perez garcia"),
        ("We met U.S. troops", "us"),
    ],
)
def test_a_name_is_compared_without_its_trimmings(text: str, value: str) -> None:
    assert [name.value for name in find_names(text)] == [value]


def test_words_have_the_form_of_names() -> None:
    assert name_words("Anna M. Hale\u2019s P\u00e9rez-Garc\u00eda") == [
        "anna",
        "hale",
        "perez",
        "garcia",
    ]


def test_an_acronym_leaves_out_joiners() -> None:
    assert acronym("university of the west") == "uw"


@given(st.text())
def test_places_lie_in_the_text_and_in_order(text: str) -> None:
    ends = [0]
    for name in find_names(text):
        assert ends[-1] <= name.start < name.end <= len(text)
        ends.append(name.end)
