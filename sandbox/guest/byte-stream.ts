/**
 * The part of a ReadableStream that reading a body takes: a reader, and iteration. Everything comes in one chunk,
 * because the broker hands a body over whole. Runs inside the isolate.
 */

type Chunk = { readonly done: boolean; readonly value: Uint8Array | undefined };
type Reader = {
  read(): Promise<Chunk>;
  cancel(): Promise<void>;
  releaseLock(): void;
  readonly closed: Promise<undefined>;
};

export type ByteStream = AsyncIterable<Uint8Array> & {
  readonly locked: boolean;
  getReader(): Reader;
  cancel(): Promise<void>;
};

/** `take` is asked at most once, at the first read. */
export function byteStream(take: () => Promise<Uint8Array>): ByteStream {
  let locked = false;
  let left = true;

  async function read(): Promise<Chunk> {
    if (!left) return { done: true, value: undefined };
    left = false;
    const value = await take();
    return value.length === 0 ? { done: true, value: undefined } : { done: false, value };
  }

  async function cancel(): Promise<void> {
    left = false;
  }

  function getReader(): Reader {
    if (locked) throw new TypeError("the stream is being read already");
    locked = true;
    const closed = Promise.withResolvers<undefined>();
    return {
      async read() {
        const chunk = await read();
        if (chunk.done) closed.resolve(undefined);
        return chunk;
      },
      cancel,
      releaseLock() {
        locked = false;
      },
      closed: closed.promise,
    };
  }

  return {
    get locked() {
      return locked;
    },
    getReader,
    cancel,
    async *[Symbol.asyncIterator]() {
      const reader = getReader();
      try {
        for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) yield chunk.value as Uint8Array;
      } finally {
        reader.releaseLock();
      }
    },
  };
}
