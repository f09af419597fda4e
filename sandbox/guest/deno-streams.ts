/** Streams over what is read and written piece by piece. Part of a library; runs inside the isolate. */

/** `close` hears that it is read to its end, `cancel` (or else `close`) that its reader gave it up. */
type Source = { read(): Promise<Uint8Array | null>; close(): void; cancel?(): Promise<void> };
type Sink = { write(bytes: Uint8Array): Promise<void>; close(): Promise<void> | void };
type Controller = { enqueue(chunk: Uint8Array): void; close(): void };

/** The classes of the guest's own realm, as they are when they are first needed. */
type Realm = {
  readonly ReadableStream: new (
    source: object,
    strategy?: object,
  ) => AsyncIterable<Uint8Array> & { getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array }> } };
  readonly WritableStream: new (sink: object) => { readonly locked: boolean; getWriter(): { close(): Promise<void> } };
};

export type ByteReader = InstanceType<Realm["ReadableStream"]>;
export type ByteWriter = InstanceType<Realm["WritableStream"]>;

const realm = globalThis as unknown as Realm;

/** Reads on when its reader does. */
export function readableOf({ read, close, cancel = async () => close() }: Source): ByteReader {
  return new realm.ReadableStream(
    {
      type: "bytes",
      async pull(controller: Controller & { byobRequest?: { respond(bytes: number): void } | null }) {
        const piece = await read();
        if (piece !== null) return controller.enqueue(piece);
        close();
        controller.close();
        // A reader that brought its own buffer waits for it.
        controller.byobRequest?.respond(0);
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
}

export function writableOf({ write, close }: Sink): ByteWriter {
  return new realm.WritableStream({
    async write(chunk: unknown) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError("expected type `Uint8Array`");
      await write(chunk);
    },
    close,
    abort: close,
  });
}
