/** What came and was not taken; from either on the sender is to wait. */
const MANY_MESSAGES = 16;
const MANY_BYTES = 256 * 1024;

/** What came over a stream, to be taken one by one. One reader only. */
export type Inbox<T> = AsyncIterableIterator<T> & {
  put(message: T, sizeBytes: number): void;
  /** True while no more should come; `onRoom` tells when that is over. */
  isFull(): boolean;
  /** After what came. Without an error it is a good end. The first end counts. */
  end(error?: Error): void;
};

/** @param onLeave hears that the reader left before the end */
export function createInbox<T>(onRoom: () => void, onLeave: () => void): Inbox<T> {
  const messages: T[] = [];
  let heldBytes = 0;
  let full = false;
  let end: { readonly error: Error | undefined } | undefined;
  let reader: PromiseWithResolvers<IteratorResult<T>> | undefined;

  function makeRoom(): void {
    heldBytes = 0;
    if (!full) return;
    full = false;
    onRoom();
  }

  return {
    put(message, sizeBytes) {
      if (end !== undefined) return;
      if (reader === undefined) {
        messages.push(message);
        heldBytes += sizeBytes;
        full ||= messages.length >= MANY_MESSAGES || heldBytes >= MANY_BYTES;
        return;
      }
      reader.resolve({ done: false, value: message });
      reader = undefined;
    },
    isFull: () => full,
    end(error) {
      if (end !== undefined) return;
      end = { error };
      if (error === undefined) reader?.resolve({ done: true, value: undefined });
      else reader?.reject(error);
      reader = undefined;
    },
    next() {
      const message = messages.shift();
      if (message !== undefined) {
        if (messages.length === 0) makeRoom();
        return Promise.resolve({ done: false, value: message });
      }
      if (end === undefined) {
        reader = Promise.withResolvers();
        return reader.promise;
      }
      return end.error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(end.error);
    },
    return() {
      messages.length = 0;
      if (end === undefined) onLeave();
      end ??= { error: undefined };
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
