/**
 * The wire between the daemon and a hook host: a length (4 bytes, little endian), then that many bytes of JSON.
 * Both ends use this file, and neither trusts the other.
 */

const HEADER_BYTES = 4;

/** Largest frame in either direction, bytes of JSON. */
export const FRAME_LIMIT_BYTES = 4 * 1024 * 1024;

/** The bytes of one frame; undefined when the message is larger than `limitBytes`. */
export function encodeFrame(message: unknown, limitBytes: number): Buffer | undefined {
  const text = JSON.stringify(message);
  const length = Buffer.byteLength(text);
  if (length > limitBytes) return undefined;
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length);
  frame.writeUInt32LE(length, 0);
  frame.write(text, HEADER_BYTES);
  return frame;
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export type FrameDecoder = {
  /** Takes the next bytes in the order of arrival. After the first broken frame everything else is ignored. */
  push(bytes: Uint8Array): void;
};

/**
 * Cuts a byte stream into messages. `onBroken` is called at most once: for a length above `limitBytes` (judged before a
 * byte of it is kept), for bytes that are no UTF-8, and for text that is no JSON.
 */
export function frameDecoder(
  limitBytes: number,
  onMessage: (message: unknown) => void,
  onBroken: (why: string) => void,
): FrameDecoder {
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  let chunks: Uint8Array[] = [];
  let heldBytes = 0;
  let neededBytes = HEADER_BYTES;
  let inHeader = true;
  let broken = false;

  function take(): Buffer {
    const [first] = chunks;
    const all = first && chunks.length === 1 ? viewOf(first) : Buffer.concat(chunks, heldBytes);
    const rest = all.subarray(neededBytes);
    chunks = rest.length === 0 ? [] : [rest];
    heldBytes = rest.length;
    return all.subarray(0, neededBytes);
  }

  function fail(why: string): void {
    broken = true;
    chunks = [];
    onBroken(why);
  }

  function step(): void {
    const part = take();
    if (inHeader) {
      const length = part.readUInt32LE(0);
      if (length > limitBytes) {
        fail(`a frame of ${length} bytes, ${limitBytes} are the limit`);
        return;
      }
      neededBytes = length;
      inHeader = false;
      return;
    }
    neededBytes = HEADER_BYTES;
    inHeader = true;
    let message: unknown;
    try {
      message = JSON.parse(utf8.decode(part));
    } catch {
      fail("a frame that is not JSON");
      return;
    }
    onMessage(message);
  }

  return {
    push(bytes) {
      if (broken) return;
      chunks.push(bytes);
      heldBytes += bytes.length;
      while (!broken && heldBytes >= neededBytes) step();
    },
  };
}
