import { randomBytes, webcrypto } from "node:crypto";
import { type CallAnswer, HOST_WORDS, PENDING_CALLS_MAX, RANDOM_BYTES_MAX } from "../guest/guest-protocol.ts";

/** What a guest can have from the host itself, without the broker: chance, digests and the prelude's own libraries. */
export type HostAnswers = {
  /** Random bytes as base64; empty for a number of bytes that is not on offer. */
  random(bytes: string): string;
  /** The source of a library; empty when there is none of that name. */
  library(name: string): string;
  /** Answers with the digest as base64, later. Gives up what makes no sense: an honest prelude does not ask for it. */
  digest(order: string, reply: (id: number, answer: CallAnswer) => void): boolean;
};

const ALGORITHMS: ReadonlySet<string> = new Set(["SHA-1", "SHA-256", "SHA-384", "SHA-512"]);
/** Largest text that is digested, base64 of 4 MiB. */
const DIGEST_LIMIT_CHARS = Math.ceil((4 * 1024 * 1024) / 3) * 4;

function readDigestOrder(text: string): { id: number; algorithm: string; data: string } | undefined {
  if (text.length > DIGEST_LIMIT_CHARS + 1024) return undefined;
  let order: unknown;
  try {
    order = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { id, algorithm, data } = Object(order) as { id?: unknown; algorithm?: unknown; data?: unknown };
  return typeof id === "number" && Number.isSafeInteger(id) && typeof algorithm === "string" && typeof data === "string"
    ? { id, algorithm, data }
    : undefined;
}

async function digestOf(algorithm: string, data: string): Promise<CallAnswer> {
  if (!ALGORITHMS.has(algorithm)) {
    return { ok: false, error: { name: "NotSupportedError", message: `unrecognized algorithm name "${algorithm}"` } };
  }
  const hash = await webcrypto.subtle.digest(algorithm, Buffer.from(data, "base64"));
  return { ok: true, value: Buffer.from(hash).toString("base64") };
}

/** @param libraries sources by name */
export function hostAnswers(libraries: ReadonlyMap<string, string>): () => HostAnswers {
  // Of one guest: what it may have open is its own.
  return () => {
    let digesting = 0;
    return {
      random(bytes) {
        const count = Number(bytes);
        if (!Number.isInteger(count) || count < 0 || count > RANDOM_BYTES_MAX) return "";
        return randomBytes(count).toString("base64");
      },
      library: (name) => libraries.get(name) ?? "",
      digest(text, reply) {
        const order = digesting < PENDING_CALLS_MAX ? readDigestOrder(text) : undefined;
        if (!order) return false;
        digesting += 1;
        void digestOf(order.algorithm, order.data).then((answer) => {
          digesting -= 1;
          reply(order.id, answer);
        });
        return true;
      },
    };
  };
}

/** Cuts a text for the host into the word and what follows it; undefined for one that is for the broker. */
export function readHostWord(text: string): { word: keyof typeof HOST_WORDS; rest: string } | undefined {
  const first = text[0];
  for (const word of ["wake", "random", "library", "digest"] as const) {
    if (HOST_WORDS[word] === first) return { word, rest: text.slice(1) };
  }
  return undefined;
}
