"""Our stemmer holds to NLTK's PorterStemmer, the one that `rouge-score` uses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from hiersum.text.words import stem

NLTK = PorterStemmer()
ROOTS = """relat condit ration valenc digit conform radic differ vile analog vietnam predic oper feudal
decis hope callous formal sensit sens triplic electr good reviv allow infer airlin gyroscop adjust
defens irrit replac depend adopt homolog commun activ angular effect bowdler probat rat ceas control
roll play enjoy cry sky y yy eye hop fail fil fall fizz conflat troubl siz agre f plaster bl motor s
geo archaeo theo institution tru gree day 2nd 19th x1y""".split()
ENDINGS = """s es ies sses ss ed eed ied ing ational tional enci ency anci ancy izer izers abli ably
alli ally entli ently eli ely ousli ously ization ation ations ator alism iveness
fulness ousness aliti ality iviti ivity biliti bility fulli fully logi logy icate ative
alize iciti icity ical ful ness al ance ence er ic able ible ant ement ment ent ion sion
tion ou ism ate iti ity ous ive ize e ll y ying""".split()


def test_every_root_with_every_ending_stems_as_in_nltk() -> None:
    words = [root + ending for root in ROOTS for ending in ["", *ENDINGS]]
    assert {word: stem(word) for word in words} == {word: NLTK.stem(word) for word in words}


@given(st.text(alphabet="abceilnorstyz019", min_size=1, max_size=12))
def test_any_string_of_letters_stems_as_in_nltk(word: str) -> None:
    assert stem(word) == NLTK.stem(word)


@pytest.mark.parametrize("word", ["skies", "dying", "news", "innings", "proceed", "exceed"])
def test_irregular_words_stem_as_in_nltk(word: str) -> None:
    assert stem(word) == NLTK.stem(word)
