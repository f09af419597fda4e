/**
 * The wire between the daemon and a hook host, the same in both directions: a length (4 bytes), a kind (1), a guest (4),
 * a number (4), all little endian, and a text in UTF-8. The length counts what follows it. Texts of guests are not
 * wrapped in JSON: the largest cross often, and must not be escaped twice.
 *
 * Both ends use this file, and neither trusts the other.
 */

const LENGTH_BYTES = 4;
const FIELDS_BYTES = 9;

/** Largest frame in either direction, bytes after its length. */
export const FRAME_LIMIT_BYTES = 8 * 1024 * 1024;

/** What `kind` and `number` mean is the protocol's matter. All numbers are 32 bits without a sign. */
export type Frame = {
  readonly kind: number;
  readonly guest: number;
  readonly number: number;
  readonly text: string;
};

function writeFields(bytes: Buffer, { kind, guest, number }: Frame, length: number): void {
  bytes.writeUInt32LE(length, 0);
  bytes.writeUInt8(kind, 4);
  bytes.writeUInt32LE(guest, 5);
  bytes.writeUInt32LE(number, 9);
}

/** The bytes of one frame; undefined when it is larger than `limitBytes`. */
export function encodeFrame(frame: Frame, limitBytes: number): Buffer | undefined {
  const length = FIELDS_BYTES + Buffer.byteLength(frame.text);
  if (length > limitBytes) return undefined;
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + length);
  writeFields(bytes, frame, length);
  bytes.write(frame.text, LENGTH_BYTES + FIELDS_BYTES);
  return bytes;
}

/** Texts up to so many UTF-16 units need no buffer of their own, UTF-8 being three times as long at most. */
const SMALL_CHARS = 16 * 1024;

/** The same for one who is done with the bytes before the next frame: most of them are written into one buffer. */
export function frameEncoder(limitBytes: number): (frame: Frame) => Buffer | undefined {
  const small = Buffer.allocUnsafe(LENGTH_BYTES + FIELDS_BYTES + 3 * SMALL_CHARS);
  return (frame) => {
    if (frame.text.length > SMALL_CHARS) return encodeFrame(frame, limitBytes);
    const length = FIELDS_BYTES + small.write(frame.text, LENGTH_BYTES + FIELDS_BYTES);
    writeFields(small, frame, length);
    return small.subarray(0, LENGTH_BYTES + length);
  };
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

export type FrameDecoder = {
  /** Takes the next bytes in the order of arrival. After the first broken frame everything else is ignored. */
  push(bytes: Uint8Array): void;
};

/**
 * Cuts a byte stream into frames. `onBroken` is called at most once: for a length above `limitBytes` (judged before a
 * byte of it is kept), for one that is too short, and for bytes that are no UTF-8.
 */
export function frameDecoder(
  limitBytes: number,
  onFrame: (frame: Frame) => void,
  onBroken: (why: string) => void,
): FrameDecoder {
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let chunks: Uint8Array[] = [];
  let heldBytes = 0;
  let neededBytes = LENGTH_BYTES;
  let inLength = true;
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
    if (inLength) {
      const length = part.readUInt32LE(0);
      if (length > limitBytes) fail(`a frame of ${length} bytes, ${limitBytes} are the limit`);
      else if (length < FIELDS_BYTES) fail(`a frame of ${length} bytes, ${FIELDS_BYTES} are the least`);
      neededBytes = length;
      inLength = false;
      return;
    }
    neededBytes = LENGTH_BYTES;
    inLength = true;
    let text: string;
    try {
      text = utf8.decode(part.subarray(FIELDS_BYTES));
    } catch {
      fail("a frame that is not UTF-8");
      return;
    }
    onFrame({ kind: part.readUInt8(0), guest: part.readUInt32LE(1), number: part.readUInt32LE(5), text });
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
