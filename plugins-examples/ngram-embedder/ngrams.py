"""Texts as vectors without a model: words, and runs of letters within them, each at a place that its hash chooses."""

import math
import re
import unicodedata
import zlib
from collections import Counter
from typing import Iterator, List

DIMENSIONS = 512
#: Runs of letters, from so many to so many: "fishing" is then near "fish", and a mistake in a word costs little.
SHORTEST, LONGEST = 3, 5
#: A whole word says more than a run of its letters.
WORD_WEIGHT = 2.0


def features(text: str) -> Iterator[str]:
    """Words as " word ", and the runs of letters of each, its borders among them."""
    for word in re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold()):
        bordered = f" {word} "
        yield bordered
        for length in range(SHORTEST, LONGEST + 1):
            for at in range(len(bordered) - length + 1):
                run = bordered[at : at + length]
                if run != bordered:
                    yield run


def vector_of(text: str) -> List[float]:
    """Of length one, or all zeros for a text without words. The same text has the same vector on every machine."""
    vector = [0.0] * DIMENSIONS
    for feature, times in Counter(features(text)).items():
        code = zlib.crc32(feature.encode("utf-8", "replace"))
        weight = (WORD_WEIGHT if feature[0] == feature[-1] == " " else 1.0) * (1 + math.log(times))
        # A place is shared by many; the sign lets what meets there by chance cancel out.
        vector[code % DIMENSIONS] += weight if code & 0x8000_0000 else -weight
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]
