"""A model of the person's own, by the package sentence-transformers, where it lies among the plugin's packages."""

from functools import lru_cache
from pathlib import Path
from typing import Any, List

from clawd_plugin import ToolError

DIMENSIONS = 384


@lru_cache(maxsize=1)
def _model_in(folder: str) -> Any:
    if not folder:
        raise ToolError("model_folder of [plugins.ngram-embedder] names no model")
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as cause:
        raise ToolError("sentence-transformers is not among the plugin's packages", "unavailable") from cause
    return SentenceTransformer(str(Path(folder).resolve()), local_files_only=True)


def vectors_of(folder: str, texts: List[str]) -> List[List[float]]:
    """Of length one. Raises ToolError where there is no such model, or it has other vectors."""
    vectors: List[List[float]] = _model_in(folder).encode(texts, normalize_embeddings=True).tolist()
    if any(len(vector) != DIMENSIONS for vector in vectors):
        raise ToolError(f"the model in {folder} has no vectors of {DIMENSIONS} numbers")
    return vectors
