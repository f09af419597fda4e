import { expect, test } from "vitest";
import type { ReadArtifact } from "../domain/artifact.ts";
import { fail, ok } from "../domain/failure.ts";
import { artifactPieces } from "./artifact-pieces.ts";

const named = (sizeBytes: number) => ({ artifactId: "a", plugin: "painter", mimeType: "image/png", sizeBytes });
/** Gives four bytes at once. */
const shelf =
  (bytes: string): ReadArtifact =>
  async (_artifact, offset) =>
    ok(Buffer.from(bytes).subarray(offset, offset + 4));

async function read(from: ReadArtifact, sizeBytes: number) {
  const pieces: string[] = [];
  for await (const piece of artifactPieces(from, named(sizeBytes))) {
    if (!piece.ok) return { pieces, failure: piece.failure };
    pieces.push(Buffer.from(piece.value).toString());
  }
  return { pieces, failure: undefined };
}

test("an artifact comes piece by piece, an empty one as one empty piece", async () => {
  expect(await read(shelf("0123456789"), 10)).toEqual({ pieces: ["0123", "4567", "89"], failure: undefined });
  expect(await read(shelf(""), 0)).toEqual({ pieces: [""], failure: undefined });
});

test("what its plugin added after the call is not given out", async () => {
  expect((await read(shelf("0123456789"), 6)).pieces).toEqual(["0123", "45"]);
});

test("one that is shorter by now, or gone, ends with a failure and not as if it were whole", async () => {
  expect(await read(shelf("01234"), 10)).toMatchObject({ pieces: ["0123", "4"], failure: { code: "lost" } });
  const gone: ReadArtifact = async () => fail("not_found", "there is no such artifact of yours");
  expect(await read(gone, 3)).toMatchObject({ pieces: [], failure: { code: "not_found" } });
});
