/** Lines of progress that nobody has read yet; older ones make room for newer ones. */
const MAX_WAITING_LINES = 256;
/** Output that nobody has read yet; beyond it the tool waits. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** The most that one message carries; small pieces that wait are joined up to here. */
export const PIECE_BYTES = 64 * 1024;

export type Piece =
  | { readonly kind: "progress"; readonly text: string }
  | { readonly kind: "output"; readonly data: Uint8Array };

/** What a tool has said and the host has not read yet, in order. */
export type NewsQueue = {
  progress(line: string): void;
  /** Resolves when there is room for more; rejects when the call is over. */
  write(piece: string | Uint8Array): Promise<void>;
  /** The next piece, if there is one. */
  take(): Piece | undefined;
  /** Resolves when something was said since, or `wake` was called. */
  changed(): Promise<void>;
  wake(): void;
  /** Nobody reads any more. */
  end(): void;
};

export function createNewsQueue(): NewsQueue {
  const encoder = new TextEncoder();
  let pieces: Piece[] = [];
  let lines = 0;
  let bytes = 0;
  let over = false;
  let stirred = Promise.withResolvers<void>();
  let room = Promise.withResolvers<void>();
  const wake = () => stirred.resolve();
  const makeRoom = () => {
    room.resolve();
    room = Promise.withResolvers<void>();
  };
  return {
    progress(text) {
      if (over) return;
      pieces.push({ kind: "progress", text });
      if (++lines > MAX_WAITING_LINES) {
        pieces.splice(
          pieces.findIndex(({ kind }) => kind === "progress"),
          1,
        );
        lines--;
      }
      wake();
    },
    async write(piece) {
      if (over) throw new Error("nobody waits for the output of this call any more");
      const data = typeof piece === "string" ? encoder.encode(piece) : piece;
      if (!(data instanceof Uint8Array)) throw new TypeError(`a piece of output is text or bytes, not ${typeof piece}`);
      for (let at = 0; at < data.byteLength; at += PIECE_BYTES) {
        pieces.push({ kind: "output", data: data.subarray(at, at + PIECE_BYTES) });
      }
      bytes += data.byteLength;
      wake();
      while (bytes > MAX_WAITING_BYTES && !over) await room.promise;
      if (over) throw new Error("nobody waits for the output of this call any more");
    },
    take() {
      const first = pieces.shift();
      if (first === undefined) return undefined;
      if (first.kind === "progress") {
        lines--;
        return first;
      }
      const joined = [first.data];
      let size = first.data.byteLength;
      for (let next = pieces[0]; next?.kind === "output"; next = pieces[0]) {
        if (size + next.data.byteLength > PIECE_BYTES) break;
        joined.push(next.data);
        size += next.data.byteLength;
        pieces.shift();
      }
      bytes -= size;
      makeRoom();
      return { kind: "output", data: joined.length === 1 ? first.data : Buffer.concat(joined, size) };
    },
    async changed() {
      await stirred.promise;
      stirred = Promise.withResolvers<void>();
    },
    wake,
    end() {
      over = true;
      pieces = [];
      wake();
      makeRoom();
    },
  };
}
