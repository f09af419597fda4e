"""Two embedders for memory: hashed runs of letters, which need nothing, and a model of the person's own."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, List

sys.path.insert(0, str(Path(__file__).parent / "vendor"))
import sentence_model
from clawd_plugin import Context, Plugin
from ngrams import DIMENSIONS, vector_of


@dataclass
class Settings:
    model_folder: Annotated[str, "A sentence-transformers model of 384 numbers, in the plugin's folder"] = ""


plugin = Plugin("ngram-embedder", "1.0.0", settings=Settings)


@plugin.embedder("ngram-512-v1", dimensions=DIMENSIONS)
def ngrams(texts: List[str], kind: str) -> List[List[float]]:
    return [vector_of(text) for text in texts]


@plugin.embedder("sentence-384-v1", dimensions=sentence_model.DIMENSIONS)
def sentences(texts: List[str], kind: str, ctx: Context) -> List[List[float]]:
    return sentence_model.vectors_of(ctx.settings.model_folder, texts)


if __name__ == "__main__":
    plugin.run()
