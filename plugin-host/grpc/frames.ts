/** Before each message: one byte that says whether it is compressed, and four of its length. */
const HEAD_BYTES = 5;

/** A message with its head before it, ready to be sent. */
export function frameOf(message: Uint8Array): Uint8Array {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + message.byteLength);
  frame[0] = 0;
  frame.writeUInt32BE(message.byteLength, 1);
  frame.set(message, HEAD_BYTES);
  return frame;
}

/** Why what came is no message. */
export type FrameFault = "too large" | "compressed";

export type FrameReader = {
  /** Takes what came, in pieces of any size. Whoever gets a fault must not go on. */
  take(chunk: Uint8Array): FrameFault | undefined;
  /** False in the middle of a message. */
  isAtEdge(): boolean;
};

/**
 * Cuts what comes into messages of at most `limitBytes`. A message may share its memory with the chunk that it came in,
 * which must not be written to again.
 */
export function createFrameReader(limitBytes: number, onMessage: (message: Uint8Array) => void): FrameReader {
  /** Of one unfinished message, its head included. */
  let pieces: Uint8Array[] = [];
  let heldBytes = 0;
  /** Of that message with its head; as long as the head is not whole, of the head. */
  let wantedBytes = HEAD_BYTES;

  function next(whole: Uint8Array): FrameFault | undefined {
    if (whole[0] !== 0) return "compressed";
    const sizeBytes = new DataView(whole.buffer, whole.byteOffset).getUint32(1);
    if (sizeBytes > limitBytes) return "too large";
    wantedBytes = HEAD_BYTES + sizeBytes;
    return undefined;
  }

  return {
    take(chunk) {
      let rest = chunk;
      for (;;) {
        if (heldBytes + rest.byteLength < wantedBytes) {
          if (rest.byteLength > 0) pieces.push(rest);
          heldBytes += rest.byteLength;
          return undefined;
        }
        // The held bytes are joined twice a message at most: for its head, and when it is whole.
        const all = pieces.length === 0 ? rest : Buffer.concat([...pieces, rest]);
        const fault = next(all);
        if (fault !== undefined) return fault;
        pieces = [];
        heldBytes = 0;
        rest = all;
        if (all.byteLength < wantedBytes) continue;
        const message = all.subarray(HEAD_BYTES, wantedBytes);
        rest = all.subarray(wantedBytes);
        wantedBytes = HEAD_BYTES;
        onMessage(message);
      }
    },
    isAtEdge: () => heldBytes === 0,
  };
}
