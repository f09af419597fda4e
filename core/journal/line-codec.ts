import { hash } from "node:crypto";
import { create, fromJson, toJson } from "@bufbuild/protobuf";
import { EventSchema } from "../../proto/gen/clawd/v1/event_pb.ts";
import type { Event, EventBody } from "../domain/event.ts";
import { fail, ok, type Result } from "../domain/failure.ts";

/** Longest line that is written or read, bytes. */
export const LINE_LIMIT_BYTES = 16 * 1024 * 1024;

const HASH_KEY = ',"hash":"';
const HASH_CHARS = 64;
/** Length of `,"hash":"<64 hex>"}`, with which every line ends. */
const SEAL_BYTES = HASH_KEY.length + HASH_CHARS + 2;
/** Enough for the number, the time and the kind of an event. */
const PEEK_BYTES = 256;
const UTF8_BYTES_PER_CHAR_MAX = 3;

/** A line ready to be written. `event` is what a reader of the line will get, so it shares nothing with the body. */
export type EncodedLine = { readonly text: string; readonly hash: string; readonly event: Event };

/**
 * Gives a body its number, its time and its link to the line before. `text` ends with the newline.
 * A body that could be written but not read again is `invalid`: it would make the whole session unreadable for ever.
 */
export function encodeLine(seq: number, atMs: number, body: EventBody, hashBefore: string): Result<EncodedLine> {
  try {
    const written = toJson(EventSchema, create(EventSchema, { seq, atMs, body }), { alwaysEmitImplicit: true });
    const json = mendSurrogates(JSON.stringify(written));
    const event = fromJson(EventSchema, JSON.parse(json));
    const open = json.slice(0, -1);
    const ownHash = hash("sha256", hashBefore + open);
    const text = `${open}${HASH_KEY}${ownHash}"}\n`;
    if (isTooLong(text)) {
      return fail("invalid", `event ${seq} (${body.case}) is longer than ${LINE_LIMIT_BYTES} bytes`, {
        hint: "store what is large in a file and put its name into the event",
      });
    }
    return ok({ text, hash: ownHash, event });
  } catch (cause) {
    const because = cause instanceof Error ? cause.message : String(cause);
    return fail("invalid", `event ${seq} (${body.case}) cannot be written: ${because}`, {
      hint: "correct the named field; nothing was written",
      cause,
    });
  }
}

function isTooLong(text: string): boolean {
  if (text.length * UTF8_BYTES_PER_CHAR_MAX <= LINE_LIMIT_BYTES) return false;
  return Buffer.byteLength(text) > LINE_LIMIT_BYTES;
}

/**
 * Half a surrogate pair (text cut in the middle of an emoji) is legal in a string but not in UTF-8, and a ProtoJSON
 * reader refuses it. It becomes U+FFFD, as every UTF-8 encoder does it. `JSON.stringify` escapes halves and nothing
 * else as \ud8xx … \udfxx; the alternative `\\.` steps over all other escapes, an escaped backslash among them.
 */
function mendSurrogates(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (found) => (found.length > 2 ? "\ufffd" : found));
}

/** Whether a line is the one that belongs at its place, and if not, why. */
export type LineCheck =
  | { readonly intact: true; readonly hash: string }
  | { readonly intact: false; readonly because: string };

/** Judges a line (without its newline) by its number and its hash; does not look at what happened in it. */
export function checkLine(line: Buffer, seq: number, hashBefore: string): LineCheck {
  const opening = `{"seq":${seq},`;
  if (line.length < opening.length + SEAL_BYTES) return { intact: false, because: "it is too short for an event" };
  if (line.toString("latin1", 0, opening.length) !== opening) {
    return { intact: false, because: `it does not begin as event ${seq}` };
  }
  const openBytes = line.length - SEAL_BYTES;
  const claimed = hashOf(line);
  if (claimed === undefined) return { intact: false, because: "it does not end with a hash" };
  const actual = hash("sha256", Buffer.concat([Buffer.from(hashBefore, "latin1"), line.subarray(0, openBytes)]));
  if (claimed !== actual) return { intact: false, because: "its hash does not fit its text and the line before" };
  return { intact: true, hash: actual };
}

/** The hash that a line claims to have; undefined when it does not end with one. */
function hashOf(line: Buffer): string | undefined {
  const seal = line.toString("latin1", line.length - SEAL_BYTES);
  if (!seal.startsWith(HASH_KEY) || !seal.endsWith('"}')) return undefined;
  return seal.slice(HASH_KEY.length, -2);
}

/** What the start of a line tells; `turnId` is empty unless the event begins with one. */
export type Peek = { readonly seq: number; readonly body: string; readonly turnId: string };

/** Looks at a line that looks like one of ours, without proving it; undefined for anything else. */
export function peekLine(line: Buffer): Peek | undefined {
  if (line.length <= SEAL_BYTES || hashOf(line) === undefined) return undefined;
  const start = line.toString("latin1", 0, PEEK_BYTES);
  const known = /^\{"seq":([1-9][0-9]{0,9}),"atMs":[^,]+,"([A-Za-z]+)":(?:\{"turnId":"([^"]*)")?/.exec(start);
  const [, seq, body, turnId = ""] = known ?? [];
  return seq === undefined || body === undefined ? undefined : { seq: Number(seq), body, turnId };
}

/**
 * The event in an intact line, without its hash, which is a matter of the file. Throws when this build cannot read
 * it; fields and events that a newer build added are left out instead.
 */
export function decodeLine(line: Buffer): Event {
  const json = `${line.toString("utf8", 0, line.length - SEAL_BYTES)}}`;
  return fromJson(EventSchema, JSON.parse(json), { ignoreUnknownFields: true });
}
