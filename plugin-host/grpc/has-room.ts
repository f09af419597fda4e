import type { Http2Stream } from "node:http2";

/** Resolves when a stream whose buffer was full takes more, or when nothing can be sent over it any more. */
export async function hasRoom(stream: Http2Stream): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.once("drain", resolve);
  stream.once("close", resolve);
  await promise;
  stream.off("drain", resolve);
  stream.off("close", resolve);
}
