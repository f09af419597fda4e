import { pipeline, type Readable, type Transform } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { BODY_LIMIT_BYTES } from "./fetch-request.ts";

/** Nobody packs a thing more often in good faith. */
const CODINGS_LIMIT = 3;
const CHUNK_BYTES = 64 * 1024;

/** The codings of an answer in the order they come off; undefined when one of them is not ours to take off. */
export function codingsOf(headers: readonly (readonly [string, string])[]): readonly string[] | undefined {
  const codings = headers
    .filter(([name]) => name === "content-encoding")
    .flatMap(([, value]) => value.toLowerCase().split(","))
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
  return codings.length <= CODINGS_LIMIT && codings.every((coding) => unpackerOf(coding))
    ? codings.reverse()
    : undefined;
}

/** Reads a body to its end, unpacked; `exhausted` as soon as it is too large. Rejects with what the network says. */
export async function readBody(body: Readable, codings: readonly string[]): Promise<Result<Buffer>> {
  const unpackers = codings.flatMap((coding) => unpackerOf(coding)?.() ?? []);
  // The reader below hears of the errors of them all.
  const source = unpackers.reduce<Readable>((from, to) => pipeline(from, to, () => {}), body);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    // Leaving the loop destroys the source, and the pipeline all that feeds it.
    if (bytes > BODY_LIMIT_BYTES) return fail("exhausted", `the answer is larger than ${BODY_LIMIT_BYTES} bytes`);
    chunks.push(chunk);
  }
  return ok(Buffer.concat(chunks, bytes));
}

function unpackerOf(coding: string): (() => Transform) | undefined {
  // An answer that was cut short gives what there is of it, as browsers do.
  const { Z_SYNC_FLUSH: finishFlush, BROTLI_OPERATION_FLUSH } = constants;
  switch (coding) {
    case "gzip":
    case "x-gzip":
      return () => createGunzip({ chunkSize: CHUNK_BYTES, finishFlush });
    case "deflate":
      return () => createInflate({ chunkSize: CHUNK_BYTES, finishFlush });
    case "br":
      return () => createBrotliDecompress({ chunkSize: CHUNK_BYTES, finishFlush: BROTLI_OPERATION_FLUSH });
    default:
      return undefined;
  }
}
