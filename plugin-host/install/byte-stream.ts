import { BadArchive } from "./bad-archive.ts";

/** Bytes that come in chunks, taken in the pieces that a reader needs. */
export type ByteStream = {
  /** Exactly so many bytes; fewer are a `BadArchive`. */
  take(count: number): Promise<Uint8Array>;
  /** The same in the chunks in which they come, so that nothing large is ever held. */
  pieces(count: number): AsyncGenerator<Uint8Array, void, void>;
  /** The next chunk, whatever its size; undefined at the end. */
  rest(): Promise<Uint8Array | undefined>;
};

/** More than `limitBytes` in all are a `BadArchive`: a small archive can hold a very large stream. */
export function openByteStream(chunks: AsyncIterable<Uint8Array>, limitBytes: number): ByteStream {
  const source = chunks[Symbol.asyncIterator]();
  let held: Uint8Array = new Uint8Array();
  let totalBytes = 0;
  const rest = async (): Promise<Uint8Array | undefined> => {
    if (held.byteLength > 0) {
      const chunk = held;
      held = new Uint8Array();
      return chunk;
    }
    const next = await source.next();
    if (next.done === true) return undefined;
    totalBytes += next.value.byteLength;
    if (totalBytes > limitBytes) throw new BadArchive(`holds more than ${limitBytes / 1024 / 1024} MiB`);
    return next.value;
  };
  async function* pieces(count: number): AsyncGenerator<Uint8Array, void, void> {
    for (let left = count; left > 0; ) {
      const chunk = await rest();
      if (chunk === undefined) throw new BadArchive("ends too early");
      const piece = chunk.subarray(0, left);
      held = chunk.subarray(piece.byteLength);
      left -= piece.byteLength;
      if (piece.byteLength > 0) yield piece;
    }
  }
  return {
    rest,
    pieces,
    take: async (count) => {
      const parts: Uint8Array[] = [];
      for await (const piece of pieces(count)) parts.push(piece);
      const [only] = parts;
      return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
    },
  };
}
