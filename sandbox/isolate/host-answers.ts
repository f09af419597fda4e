import { randomBytes } from "node:crypto";
import {
  type CallAnswer,
  HOST_WORDS,
  type HostJob,
  type Json,
  PENDING_CALLS_MAX,
  RANDOM_BYTES_MAX,
} from "../guest/guest-protocol.ts";
import { type HostCrypto, hostCrypto } from "./host-crypto.ts";
import { type HostPresses, hostPresses } from "./host-press.ts";

/**
 * What a guest can have from the host itself, without the broker: chance, cryptography, packing, and the prelude's own
 * libraries.
 */
export type HostAnswers = {
  /** Random bytes as base64; empty for a number of bytes that is not on offer. */
  random(bytes: string): string;
  /** The source of a library; empty when there is none of that name. */
  library(name: string): string;
  /**
   * Does a `HostJob` and answers later; the jobs of a guest run one after the other, so that it never has more than one
   * thread. False for what makes no sense: an honest prelude does not ask for it.
   */
  job(order: string, reply: (id: number, answer: CallAnswer) => void): boolean;
  /** Gives up what waits; nothing is answered any more. */
  close(): void;
};

/** Longest job, UTF-16 units: base64 of 4 MiB twice, as for a signature and its data, and what is around them. */
const JOB_LIMIT_CHARS = 12 * 1024 * 1024;
/** All jobs of one guest that wait, UTF-16 units: they lie in the memory of the process, which others share. */
const WAITING_LIMIT_CHARS = 24 * 1024 * 1024;
/** Of an error, UTF-16 units. */
const MESSAGE_CHARS = 300;

type Order = { readonly id: number; readonly job: HostJob };

function readOrder(text: string): Order | undefined {
  if (text.length > JOB_LIMIT_CHARS) return undefined;
  let order: unknown;
  try {
    order = JSON.parse(text);
  } catch {
    return undefined;
  }
  const given = Object(order) as Record<string, unknown>;
  const { id, job, method, args, stream, data, end } = given;
  if (typeof id !== "number" || !Number.isSafeInteger(id)) return undefined;
  const sound =
    (job === "crypto" && typeof method === "string" && Array.isArray(args)) ||
    (job === "dropPress" && typeof stream === "number") ||
    (job === "press" && typeof stream === "number" && typeof data === "string" && typeof end === "boolean");
  return sound ? { id, job: given as unknown as HostJob } : undefined;
}

async function work(job: HostJob | undefined, crypto: HostCrypto, presses: HostPresses): Promise<Json> {
  switch (job?.job) {
    case undefined:
      throw new DOMException("too much waits for the host already: wait for its answers", "QuotaExceededError");
    case "crypto":
      return crypto.run(job.method, job.args);
    case "press":
      return presses.step(job);
    case "dropPress":
      presses.drop(job.stream);
      return null;
  }
}

/** What a guest hears of an error: of the classes that the web's standards name, and never where it came from. */
function told(error: unknown): CallAnswer {
  const { name, message } = Object(error) as { name?: unknown; message?: unknown };
  return {
    ok: false,
    error: {
      name: typeof name === "string" && /^[A-Z][A-Za-z]{2,40}Error$/.test(name) ? name : "OperationError",
      message: String(message).slice(0, MESSAGE_CHARS),
    },
  };
}

/** @param library the source of a library; empty when there is none of that name */
export function hostAnswers(library: (name: string) => string): () => HostAnswers {
  const crypto = hostCrypto();
  // Of one guest: what it may have open is its own.
  return () => {
    const presses = hostPresses();
    type Waiting = {
      readonly id: number;
      /** Undefined for one that is too much. */
      readonly job: HostJob | undefined;
      readonly chars: number;
      readonly reply: (id: number, answer: CallAnswer) => void;
    };
    const waiting: Waiting[] = [];
    let waitingChars = 0;
    let busy = false;
    let closed = false;

    async function workOff(): Promise<void> {
      busy = true;
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const answer = await work(next.job, crypto, presses).then(
          (value): CallAnswer => ({ ok: true, value }),
          (error: unknown) => told(error),
        );
        waitingChars -= next.chars;
        if (!closed) next.reply(next.id, answer);
      }
      busy = false;
    }

    return {
      random(bytes) {
        const count = Number(bytes);
        if (!Number.isInteger(count) || count < 0 || count > RANDOM_BYTES_MAX) return "";
        return randomBytes(count).toString("base64");
      },
      library,
      job(text, reply) {
        const order = waiting.length < PENDING_CALLS_MAX ? readOrder(text) : undefined;
        if (!order) return false;
        const fits = waitingChars + text.length <= WAITING_LIMIT_CHARS;
        const chars = fits ? text.length : 0;
        waitingChars += chars;
        waiting.push({ id: order.id, job: fits ? order.job : undefined, chars, reply });
        if (!busy) void workOff();
        return true;
      },
      close() {
        closed = true;
        waiting.length = 0;
        presses.close();
      },
    };
  };
}

/** Cuts a text for the host into the word and what follows it; undefined for one that is for the broker. */
export function readHostWord(text: string): { word: keyof typeof HOST_WORDS; rest: string } | undefined {
  const first = text[0];
  for (const word of ["wake", "random", "library", "job"] as const) {
    if (HOST_WORDS[word] === first) return { word, rest: text.slice(1) };
  }
  return undefined;
}
