"""What a network may learn from a target: the sentences that stand on what it reads.

What it learns to say without a source it will say without a source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from hiersum.config import Config
from hiersum.data.example import encode_target
from hiersum.text.facts import Evidence, without_asides
from hiersum.text.sentences import split_sentences
from hiersum.text.tokenizer import Tokenizer
from hiersum.text.words import count_words, leans_on_another, split_words
from hiersum.types import Example


def cut_to_supported(example: Example, tokenizer: Tokenizer, config: Config) -> Example | None:
    """Cut the target to sentences and brackets that the paragraphs, as far as they are read, support.

    Returns:
        The example; None if too little is left, or its first sentence is not supported.
    """
    read = [example.title, *(tokenizer.decode(ids) for ids in example.paragraph_ids)]
    evidence = Evidence.of(read)

    def is_supported(text: str) -> bool:
        return evidence.supports(tokenizer.fold(text))  # as what was read comes back

    sentences = [
        without_asides(sentence, is_supported) for sentence in split_sentences(example.target or "")
    ]
    kept = list(_supported(sentences, is_supported))
    target = " ".join(kept)
    if count_words(target) < config.data.min_target_words:
        return None
    if kept[:1] != sentences[:1]:
        return None
    return replace(example, target=target, target_ids=encode_target(target, tokenizer, config))


def _supported(sentences: Sequence[str], is_supported: Callable[[str], bool]) -> Iterator[str]:
    """Yield the supported sentences; without the one before it, none that leans on that."""
    has_before = True
    for sentence in sentences:
        is_kept = is_supported(sentence)
        if not has_before:
            is_kept = is_kept and not leans_on_another(split_words(sentence))
        if is_kept:
            yield sentence
        has_before = is_kept
