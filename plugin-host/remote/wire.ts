import type { Duplex, Readable } from "node:stream";
import { openLineBuffer } from "./line-buffer.ts";

/** What is spoken behind a handshake, as TLS itself negotiates it. */
export const LINK_PROTOCOL = "clawd-remote/1";
export const ENROL_PROTOCOL = "clawd-enrol/1";

/** The largest manifest, as JSON in a line, and then some. */
export const MAX_OFFER_BYTES = 1024 * 1024;
/** Of any other line that one side says to the other. */
export const MAX_LINE_BYTES = 64 * 1024;
/** How deep the values of a line may be nested. */
const MAX_DEPTH = 100;
/** What may be under way unread on one stream, bytes: what a slow reader costs, and how much a fast one gets on a long way. */
const STREAM_WINDOW_BYTES = 256 * 1024;
/** Processes of one link at a moment: one that runs, one that takes its place, one that leaves. */
export const MAX_PROCESSES = 4;
/**
 * Connections of one process at a moment, those of the plugin to its host's services, and as many the other way round: a plugin
 * on HTTP/1.1 is called on so many at once. Both ends hold to it.
 */
export const MAX_TUNNELS = 128;
/** Its lines, its standard streams and its pipe. */
const OTHER_STREAMS = 5;
/** Streams at one moment: nobody who holds to the limits above ever waits for one. */
export const MAX_STREAMS = 1 + MAX_PROCESSES * (OTHER_STREAMS + 2 * MAX_TUNNELS);

/** Both ends say this at the beginning. */
export const LINK_SETTINGS = {
  enablePush: false,
  initialWindowSize: STREAM_WINDOW_BYTES,
  maxConcurrentStreams: MAX_STREAMS,
} as const;

/** The streams of a link. The daemon opens every one of them; a process and its tunnels are told apart by numbers. */
export const PATHS = {
  /** Lines both ways for as long as the connection lives: what the plugin is, new certificates, why one is sent away. */
  agent: "/agent",
  /** Lines both ways for as long as a process lives: its order and signals there, its pid, tunnels and exit back. */
  process: (process: number) => `/process/${process}`,
  stdin: (process: number) => `/process/${process}/stdin`,
  stdout: (process: number) => `/process/${process}/stdout`,
  stderr: (process: number) => `/process/${process}/stderr`,
  pipe: (process: number) => `/process/${process}/pipe`,
  /** One connection to the socket on which the plugin listens. */
  plugin: (process: number) => `/process/${process}/plugin`,
  /** One connection of the plugin to its host's services, which the agent announced by its number. */
  host: (process: number, tunnel: number) => `/process/${process}/host/${tunnel}`,
} as const;

/** What a process of a plugin shall be: what was granted at the daemon, in the permission language. */
export type StartOrder = {
  readonly allow: readonly string[];
  /** SHA-256 over the plugin's files, hex: other files are not what was granted. */
  readonly filesSha256: string;
  /** Two-way pipes beside the standard streams, 0 or 1. */
  readonly pipes: number;
};

/** Says one line. What cannot be sent any more is nobody's. */
export function sayLine(stream: Duplex, value: unknown): void {
  if (stream.writable) stream.write(`${JSON.stringify(value)}\n`);
}

export type LineListener = {
  readonly maxBytes: number;
  /** A line that is JSON. */
  readonly onLine: (value: unknown) => void;
  /** A line too long, or none at all: whoever says such things is not worth listening to. Nothing is heard after it. */
  readonly onNonsense: (what: string) => void;
};

/** Hears lines until the stream ends. */
export function hearLines(stream: Readable, { maxBytes, onLine, onNonsense }: LineListener): void {
  const buffer = openLineBuffer(maxBytes);
  let isDeaf = false;
  const nonsense = (what: string) => {
    isDeaf = true;
    onNonsense(what);
  };
  stream.on("data", (chunk: Buffer) => {
    if (isDeaf) return;
    const lines = buffer.take(chunk);
    if (lines === undefined) return nonsense(`a line of more than ${maxBytes} bytes`);
    for (const line of lines) {
      if (isTooDeep(line)) return nonsense(`JSON that is nested deeper than ${MAX_DEPTH}`);
      let value: unknown;
      try {
        value = JSON.parse(line);
      } catch {
        return nonsense("a line that is no JSON");
      }
      onLine(value);
    }
  });
  stream.on("error", () => {});
}

/** Whoever walks through such a value later may do so by calling itself. Brackets within texts count for nothing. */
function isTooDeep(json: string): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at];
    if (isText) {
      if (sign === "\\") at += 1;
      else if (sign === '"') isText = false;
    } else if (sign === '"') isText = true;
    else if (sign === "[" || sign === "{") depth += 1;
    else if (sign === "]" || sign === "}") depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** A field of what a stranger said; undefined when it is not there, or nothing there is an object. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

export function textOf(value: unknown, name: string): string | undefined {
  const field = fieldOf(value, name);
  return typeof field === "string" ? field : undefined;
}

export function numberOf(value: unknown, name: string): number | undefined {
  const field = fieldOf(value, name);
  return typeof field === "number" && Number.isSafeInteger(field) ? field : undefined;
}

/**
 * Makes two streams one way in both directions: each takes only what the other has room for, the end of one is the end of
 * the other, and one that breaks takes the other along.
 */
export function splice(left: Duplex, right: Duplex): void {
  for (const [one, other] of [
    [left, right],
    [right, left],
  ] as const) {
    one.pipe(other);
    one.on("error", () => other.destroy());
    one.once("close", () => {
      // After a clean end what it said is still on its way out.
      if (!one.readableEnded) other.destroy();
      else other.resume();
    });
  }
}
