import type { Embedder } from "../../core/domain/embedder.ts";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { EmbedResponse } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import type { CallQueue } from "../life/call-queue.ts";
import { MAX_MESSAGE_BYTES } from "../link/plugin-client.ts";
import { askPlugin, brokeContract } from "./hear-plugin.ts";
import type { OfferParts } from "./offer-parts.ts";

const BATCH_LIMIT_TEXTS = 256;
/** Room for the rest of a message, and for what JSON adds to texts. */
const BATCH_LIMIT_BYTES = MAX_MESSAGE_BYTES / 2;
/** What one number takes at most when it is written as JSON. */
const NUMBER_LIMIT_BYTES = 26;
/** One batch. */
const SILENCE_MS = 120_000;

/** As the manifest declares it. */
export type DeclaredEmbedder = { readonly id: string; readonly dimensions: number };

/** A plugin's embedder as the daemon sees it: any number of texts, given to the plugin in batches that fit a message. */
export function makePluginEmbedder(parts: OfferParts, queue: CallQueue, declared: DeclaredEmbedder): Embedder {
  const { id, dimensions } = declared;
  const what = `embedder "${id}"`;
  return {
    id,
    dimensions,
    async embed(texts, kind, signal) {
      const batches = splitTexts(texts, dimensions);
      if (!batches.ok) return batches;
      const vectors: Float32Array[] = [];
      for (const batch of batches.value) {
        const request = { embedder: id, texts: [...batch], isQuery: kind === "query" };
        const answer = await askPlugin(
          parts,
          { what, queue, silenceMs: SILENCE_MS, ask: (link, end) => link.embed(request, end) },
          signal,
        );
        if (!answer.ok) return answer;
        const read = readVectors(answer.value, batch.length, dimensions);
        if ("problem" in read) return brokeContract(parts, what, read.problem);
        vectors.push(...read.vectors);
      }
      return ok(vectors);
    },
  };
}

/** Batches whose question and whose answer both fit into a message. */
function splitTexts(texts: readonly string[], dimensions: number): Result<readonly (readonly string[])[]> {
  const rows = Math.max(
    1,
    Math.min(BATCH_LIMIT_TEXTS, Math.floor(MAX_MESSAGE_BYTES / (dimensions * NUMBER_LIMIT_BYTES))),
  );
  const batches: string[][] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    if (size > BATCH_LIMIT_BYTES) {
      const limit = `${BATCH_LIMIT_BYTES / 1024 / 1024} MiB`;
      return fail("invalid", `a text of ${size} bytes is too long to be embedded: a plugin takes ${limit}`, {
        hint: "cut it into pieces first",
      });
    }
    const last = batches.at(-1);
    if (last === undefined || last.length >= rows || bytes + size > BATCH_LIMIT_BYTES) {
      batches.push([text]);
      bytes = size;
    } else {
      last.push(text);
      bytes += size;
    }
  }
  return ok(batches);
}

function readVectors(
  { vectors }: EmbedResponse,
  wanted: number,
  dimensions: number,
): { readonly vectors: readonly Float32Array[] } | { readonly problem: string } {
  if (vectors.length !== wanted) return { problem: `gave ${vectors.length} vectors for ${wanted} texts` };
  const read: Float32Array[] = [];
  for (const { values } of vectors) {
    if (values.length !== dimensions) {
      return { problem: `gave a vector of ${values.length} numbers, its plugin.json says ${dimensions}` };
    }
    if (!values.every(Number.isFinite)) return { problem: "gave a vector with something that is no number" };
    read.push(Float32Array.from(values));
  }
  return { vectors: read };
}
