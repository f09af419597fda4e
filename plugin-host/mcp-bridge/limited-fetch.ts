import type { FetchLike } from "@modelcontextprotocol/client";

const MIB = 1024 * 1024;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/**
 * Keeps to answers that fit into memory: a body, or one event of a stream, has `maxBytes` at most after it was unpacked. Whoever
 * reads on after that gets an error, and the connection is gone.
 */
export function limitedFetch(fetch: FetchLike, maxBytes: number): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
    const count = isStream ? eventCounter() : byteCounter();
    const limiter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (count(chunk) <= maxBytes) controller.enqueue(chunk);
        else controller.error(new Error(`it said more than ${maxBytes / MIB} MiB at once`));
      },
    });
    const limited = new Response(body.pipeThrough(limiter), { status, statusText, headers });
    // Where it came from is not to be had otherwise; redirects that are not followed are named by it.
    Object.defineProperty(limited, "url", { value: response.url });
    return limited;
  };
}

/** Bytes of all chunks so far. */
function byteCounter(): (chunk: Uint8Array) => number {
  let bytes = 0;
  return (chunk) => {
    bytes += chunk.byteLength;
    return bytes;
  };
}

/** The largest event of which a part is in the chunk, bytes: an empty line ends one, and what was kept for it. */
function eventCounter(): (chunk: Uint8Array) => number {
  let bytes = 0;
  let isLineEmpty = true;
  let wasReturn = false;
  return (chunk) => {
    let largest = 0;
    for (const byte of chunk) {
      bytes += 1;
      largest = Math.max(largest, bytes);
      const isSecondHalf = byte === NEWLINE && wasReturn;
      wasReturn = byte === RETURN;
      if (isSecondHalf) continue;
      const isEnd = byte === NEWLINE || wasReturn;
      if (isEnd && isLineEmpty) bytes = 0;
      isLineEmpty = isEnd;
    }
    return largest;
  };
}
