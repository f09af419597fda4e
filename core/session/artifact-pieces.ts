import type { Artifact, ReadArtifact } from "../domain/artifact.ts";
import { fail, ok, type Result } from "../domain/failure.ts";
import type { Journal } from "../domain/journal.ts";
import { findArtifact } from "./read-session.ts";

export type ArtifactBytes = {
  readonly artifact: Artifact;
  readonly pieces: AsyncGenerator<Result<Uint8Array>, void, undefined>;
};

/** An artifact that a call of a session named; `read` is undefined where nobody keeps any. */
export async function readArtifact(
  journal: Journal,
  read: ReadArtifact | undefined,
  id: string,
  artifactId: string,
): Promise<Result<ArtifactBytes>> {
  if (read === undefined) return fail("not_found", "nobody keeps artifacts here");
  const found = await findArtifact(journal, id, artifactId);
  return found.ok ? ok({ artifact: found.value, pieces: artifactPieces(read, found.value) }) : found;
}

/**
 * The bytes of an artifact in their order, one piece at least. What its plugin added after the call that named it is not given
 * out: nobody was told of it.
 */
export async function* artifactPieces(
  read: ReadArtifact,
  artifact: Artifact,
): AsyncGenerator<Result<Uint8Array>, void, undefined> {
  const { artifactId, sizeBytes } = artifact;
  let offset = 0;
  do {
    const piece = await read(artifact, offset);
    if (!piece.ok) return yield piece;
    if (piece.value.length === 0 && offset < sizeBytes) {
      return yield fail("lost", `artifact ${artifactId} ends after ${offset} of ${sizeBytes} bytes`);
    }
    yield ok(piece.value.subarray(0, sizeBytes - offset));
    offset += piece.value.length;
  } while (offset < sizeBytes);
}
