import type { Readable, Writable } from "node:stream";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isJsonObject } from "../../core/domain/json-object.ts";
import { LinkError } from "./plugin-link.ts";

/** One line of an answer; a longer one is thrown away and fails the request that waits. */
const MAX_LINE_BYTES = 10 * 1024 * 1024;
/** Requests that a plugin has not read yet; more are refused, so that a deaf one does not fill our memory. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
const MAX_WAITING_REQUESTS = 256;
const NEWLINE = 10;

/** What came back for a request: its result, or the error that the plugin gave. */
export type RpcReply =
  | { readonly is: "result"; readonly result: JsonValue }
  | { readonly is: "error"; readonly message: string };

/** JSON-RPC 2.0 over two pipes, one request at a time. */
export type JsonRpcWire = {
  /**
   * Sends a request when those before it are over. Rejects with `LinkError`: at the abort of the signal (an answer that
   * comes later is thrown away), at a line that is too long, and when the wire is closed.
   */
  request(method: string, params: JsonObject, signal: AbortSignal): Promise<RpcReply>;
  /** Ends what waits, with `broken`. The pipes stay as they are. */
  close(why: string): void;
};

type Waiting = {
  readonly method: string;
  readonly params: JsonObject;
  readonly settle: (reply: RpcReply) => void;
  readonly reject: (error: LinkError) => void;
};

/**
 * @param hearNoise is given every line that is no answer, whatever its length up to the limit of a line
 */
export function openJsonRpcWire(
  { stdin, stdout }: { readonly stdin: Writable; readonly stdout: Readable },
  hearNoise: (line: string) => void,
): JsonRpcWire {
  const queue: Waiting[] = [];
  let current: { readonly id: number; readonly waiting: Waiting } | undefined;
  let lastId = 0;
  let closedBecause: string | undefined;

  const pump = () => {
    if (current !== undefined) return;
    const waiting = queue.shift();
    if (waiting === undefined) return;
    if (stdin.writableLength > MAX_UNREAD_BYTES) {
      waiting.reject(new LinkError("broken", "it does not read its input", undefined));
      pump();
      return;
    }
    current = { id: ++lastId, waiting };
    const { method, params } = waiting;
    // The id stands last: shell scripts find it as the last one in the line.
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method, params, id: lastId })}\n`);
  };
  const endCurrent = (): Waiting | undefined => {
    const ended = current?.waiting;
    current = undefined;
    return ended;
  };
  const close = (why: string) => {
    if (closedBecause !== undefined) return;
    closedBecause = why;
    const ended = endCurrent();
    for (const waiting of ended === undefined ? queue.splice(0) : [ended, ...queue.splice(0)]) {
      waiting.reject(new LinkError("broken", why, undefined));
    }
  };
  const hearLine = (line: string) => {
    const answer = readAnswer(line);
    if (answer === undefined) return hearNoise(line);
    // The answer to a request that nobody waits for any more, or to none at all.
    if (answer.id !== current?.id) return;
    endCurrent()?.settle(answer.reply);
    pump();
  };
  const hearTooLong = () => {
    const problem = `it sent a line of more than ${MAX_LINE_BYTES / 1024 / 1024} MiB`;
    hearNoise(problem);
    endCurrent()?.reject(new LinkError("too large", problem, undefined));
    pump();
  };

  splitLines(stdout, hearLine, hearTooLong);
  stdout.once("close", () => close("it closed its output"));
  // A broken pipe is noticed by whoever waits, and by the exit of the process.
  stdin.on("error", () => close("it closed its input"));

  return {
    request(method, params, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<RpcReply>();
      if (signal.aborted) return Promise.reject(cancelled());
      if (closedBecause !== undefined) return Promise.reject(new LinkError("broken", closedBecause, undefined));
      if (queue.length >= MAX_WAITING_REQUESTS) {
        return Promise.reject(new LinkError("broken", "too many requests wait for it", undefined));
      }
      const waiting: Waiting = { method, params, settle: resolve, reject };
      const giveUp = () => {
        if (current?.waiting === waiting) endCurrent();
        else if (queue.includes(waiting)) queue.splice(queue.indexOf(waiting), 1);
        reject(cancelled());
        pump();
      };
      signal.addEventListener("abort", giveUp, { once: true });
      queue.push(waiting);
      pump();
      return promise.finally(() => signal.removeEventListener("abort", giveUp));
    },
    close,
  };
}

function cancelled(): LinkError {
  return new LinkError("cancelled", "nobody waits for the answer any more", undefined);
}

/** Undefined for everything that is no answer: words, broken JSON, requests and notifications of the plugin's own. */
function readAnswer(line: string): { readonly id: number; readonly reply: RpcReply } | undefined {
  let said: JsonValue;
  try {
    said = JSON.parse(line) as JsonValue;
  } catch {
    return undefined;
  }
  if (!isJsonObject(said) || typeof said.id !== "number") return undefined;
  const { id, error, result } = said;
  if (error !== undefined && error !== null) return { id, reply: { is: "error", message: sayRpcError(error) } };
  return result === undefined ? undefined : { id, reply: { is: "result", result } };
}

function sayRpcError(error: JsonValue): string {
  if (isJsonObject(error) && typeof error.message === "string") return error.message;
  return typeof error === "string" ? error : JSON.stringify(error);
}

/** Never pauses the stream, and holds no more than one line. */
function splitLines(stream: Readable, hearLine: (line: string) => void, hearTooLong: () => void): void {
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (part: Buffer) => {
    bytes += part.length;
    if (bytes <= MAX_LINE_BYTES) parts.push(part);
    else parts = [];
  };
  const end = () => {
    if (bytes > MAX_LINE_BYTES) hearTooLong();
    else if (bytes > 0) hearLine(Buffer.concat(parts).toString("utf8"));
    parts = [];
    bytes = 0;
  };
  stream.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, at));
      end();
      start = at + 1;
    }
    if (start < chunk.length) take(chunk.subarray(start));
  });
  // A torn pipe is the end of the answers, and is noticed as that.
  stream.on("error", () => {});
}
