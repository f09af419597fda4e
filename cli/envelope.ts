/** The Connect protocol's frame: one byte of flags, four bytes of length (big-endian), then the bytes. */
export type Envelope = { readonly flags: number; readonly data: Uint8Array };

export const END_STREAM_FLAG = 0b10;
const HEADER_BYTES = 5;

export function packEnvelope(data: Uint8Array): Uint8Array {
  const packed = new Uint8Array(HEADER_BYTES + data.length);
  new DataView(packed.buffer).setUint32(1, data.length);
  packed.set(data, HEADER_BYTES);
  return packed;
}

/**
 * Cuts a byte stream into envelopes, however the bytes were chunked. An envelope longer than `limitBytes` gives
 * `undefined`: the stream cannot be read on.
 */
export function openEnvelopeReader(limitBytes: number): (chunk: Uint8Array) => Envelope[] | undefined {
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  let neededBytes = HEADER_BYTES;
  return (chunk) => {
    pending.push(chunk);
    pendingBytes += chunk.length;
    // A large envelope arrives in many chunks: they are joined once, when it is whole.
    if (pendingBytes < neededBytes) return [];
    const bytes = pending.length === 1 ? chunk : Buffer.concat(pending);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const envelopes: Envelope[] = [];
    let at = 0;
    neededBytes = HEADER_BYTES;
    while (bytes.length - at >= HEADER_BYTES) {
      const size = view.getUint32(at + 1);
      if (size > limitBytes) return undefined;
      neededBytes = HEADER_BYTES + size;
      if (bytes.length - at < neededBytes) break;
      envelopes.push({ flags: view.getUint8(at), data: bytes.subarray(at + HEADER_BYTES, at + neededBytes) });
      at += neededBytes;
      neededBytes = HEADER_BYTES;
    }
    pending = at < bytes.length ? [bytes.subarray(at)] : [];
    pendingBytes = bytes.length - at;
    return envelopes;
  };
}
