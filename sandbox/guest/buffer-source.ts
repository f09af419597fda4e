/** What standards call a BufferSource. Runs inside the isolate. */

export function isBufferSource(value: unknown): value is ArrayBuffer | ArrayBufferView {
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}

/** The bytes themselves, not a copy. */
export function bytesOf(source: unknown, taker: string): Uint8Array<ArrayBuffer> {
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (ArrayBuffer.isView(source))
    return new Uint8Array(source.buffer as ArrayBuffer, source.byteOffset, source.byteLength);
  throw new TypeError(`${taker} takes an ArrayBuffer or a view of one`);
}
