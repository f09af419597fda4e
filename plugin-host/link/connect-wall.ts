import { LinkError } from "./plugin-link.ts";

/** Where the errors of Connect are turned into those of a link; nothing above this line knows the library. */
export type ConnectWall = {
  /** One answer. */
  ask<T>(work: Promise<T>, signal?: AbortSignal): Promise<T>;
  /** A stream of answers. */
  hear<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T>;
  translate(cause: unknown, signal?: AbortSignal): LinkError;
};

export async function buildWall(): Promise<ConnectWall> {
  // Loaded here: a daemon that calls no plugin needs none of it.
  const { Code, ConnectError } = await import("@connectrpc/connect");
  const kinds: ReadonlyMap<number, LinkError["kind"]> = new Map([
    [Code.Unimplemented, "unserved"],
    [Code.ResourceExhausted, "too large"],
    // So says tonic of a message beyond its limit.
    [Code.OutOfRange, "too large"],
    [Code.DeadlineExceeded, "timed out"],
    // Codes that no client gives by itself: only the plugin can have said them.
    [Code.InvalidArgument, "refused"],
    [Code.NotFound, "refused"],
    [Code.FailedPrecondition, "refused"],
    [Code.Aborted, "refused"],
  ] as const);
  const translate = (cause: unknown, signal?: AbortSignal): LinkError => {
    if (cause instanceof LinkError) return cause;
    const error = ConnectError.from(cause);
    // After a crash the client says "canceled", too: only our own signal makes it a cancel.
    const kind = signal?.aborted === true ? "cancelled" : (kinds.get(error.code) ?? "broken");
    return new LinkError(kind, error.rawMessage, cause);
  };
  return {
    translate,
    async ask(work, signal) {
      try {
        return await work;
      } catch (cause) {
        throw translate(cause, signal);
      }
    },
    async *hear(stream, signal) {
      try {
        yield* stream;
      } catch (cause) {
        throw translate(cause, signal);
      }
    },
  };
}
