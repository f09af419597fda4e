# python3 -m pytest
import json
import math
from pathlib import Path

import pytest
from main import plugin
from ngrams import DIMENSIONS, vector_of
from sentence_model import vectors_of


def near(left, right):
    return sum(one * other for one, other in zip(vector_of(left), vector_of(right)))


def test_a_vector_has_length_one_and_the_same_text_the_same_one():
    vector = vector_of("fish in the lake")
    assert len(vector) == DIMENSIONS
    assert math.isclose(near("fish in the lake", "fish in the lake"), 1)
    assert vector == vector_of("Fish in the LAKE")


def test_a_word_is_near_its_kin_and_its_misspelling_and_far_from_others():
    assert near("fish", "fishing") > 0.3 > near("fish", "money") + 0.1
    assert near("mississippi", "missisippi") > 0.5
    assert near("fishing at a lake", "fish in the lake") > near("fishing at a lake", "money in the bank") + 0.2


@pytest.mark.parametrize("text", ["", " …!", "\n"])
def test_no_words_are_no_direction(text):
    assert vector_of(text) == [0.0] * DIMENSIONS


@pytest.mark.parametrize("text", ["Ωμέγα", "日本語のテキスト", "żółć", "🦀 crab", "\ud800"])
def test_every_alphabet_has_vectors(text):
    assert all(math.isfinite(value) for value in vector_of(text))


def test_a_model_that_is_not_there_is_said_so():
    with pytest.raises(Exception, match="model_folder"):
        vectors_of("", ["text"])


def test_plugin_json_says_what_the_code_says():
    written = json.loads(Path(__file__).with_name("plugin.json").read_text("utf-8"))
    assert plugin.manifest(written) == written
