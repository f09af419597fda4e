"""Writes clawd_plugin/gen anew from the protos; run it after they changed.

    pip install grpcio-tools==1.62.3
    python generate.py

That release is pinned on purpose: what it writes runs on every protobuf from 4.25 on, while newer ones write code that
asks for a protobuf as new as themselves. `gen/digest.txt` says which protos the code is from; a test compares it.
"""

import hashlib
import re
import shutil
import tempfile
from importlib import resources
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROTO = HERE.parent.parent / "proto"
PROTOS = [
    "clawd/plugin/v1/host.proto",
    "clawd/plugin/v1/manifest.proto",
    "clawd/plugin/v1/plugin.proto",
    "clawd/plugin/v2/plugin.proto",
]
PACKAGE = "clawd_plugin.gen."


def digest() -> str:
    """Of the protos, in their order: SHA-256, in hexadecimal digits."""
    whole = hashlib.sha256()
    for path in PROTOS:
        lines = (PROTO / path).read_text("utf-8").split("\n")
        # Words about the protos change no code.
        whole.update("\n".join(line for line in lines if not line.strip().startswith("//")).encode())
    return whole.hexdigest()


def generate() -> None:
    from grpc_tools import protoc

    target = HERE / "clawd_plugin" / "gen"
    with tempfile.TemporaryDirectory() as out:
        known = str(resources.files("grpc_tools") / "_proto")
        flags = [f"-I{PROTO}", f"-I{known}", f"--python_out={out}", f"--pyi_out={out}"]
        if protoc.main(["protoc", *flags, *PROTOS]) != 0:
            raise SystemExit("protoc failed; what it said stands above")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(out, target)
    for file in [*target.rglob("*.py"), *target.rglob("*.pyi")]:
        # Generated for a place of its own: two packages that both bring a "clawd" would be in each other's way.
        file.write_text(re.sub(r"^from clawd\.", f"from {PACKAGE}clawd.", file.read_text(), flags=re.MULTILINE))
    for folder in [target, *(path for path in target.rglob("*") if path.is_dir())]:
        (folder / "__init__.py").touch()
    (target / "digest.txt").write_text(digest() + "\n")


if __name__ == "__main__":
    generate()
