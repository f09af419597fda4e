import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from "node:http2";
import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import type { Http2SessionManager } from "@connectrpc/connect-node";
import { createFrameReader, frameOf } from "../grpc/frames.ts";
import { hasRoom } from "../grpc/has-room.ts";
import { createInbox, type Inbox } from "../grpc/inbox.ts";

/** What gRPC allows a deadline to be written with, and what a timer of ours can count. */
const LONGEST_TIMEOUT_MS = 99_999_999;
/** What is not told in trailers is told as nothing. */
const NO_HEADERS = new Headers();
/** How gRPC reads the status of HTTP when there is none of its own. */
const HTTP_CODES: ReadonlyMap<number, Code> = new Map([
  [400, Code.Internal],
  [401, Code.Unauthenticated],
  [403, Code.PermissionDenied],
  [404, Code.Unimplemented],
  [429, Code.Unavailable],
  [502, Code.Unavailable],
  [503, Code.Unavailable],
  [504, Code.Unavailable],
]);

export type GrpcTransportParts = {
  readonly sessions: Pick<Http2SessionManager, "request" | "notifyResponseByteRead">;
  /** Shown with every call. */
  readonly token: string;
  /** Of one message, either way. */
  readonly limitBytes: number;
};

/**
 * gRPC over HTTP/2 for generated clients, without compression, headers and interceptors: a call of a plugin costs a third
 * of what the general transport of the library takes, which is made for browsers and proxies, too.
 */
export function createGrpcTransport(parts: GrpcTransportParts): Transport {
  return {
    async unary(method, signal, timeoutMs, _header, input) {
      const { stream, inbox, fail } = await openCall(parts, method, signal, timeoutMs);
      send(stream, () => stream.end(frameFor(method.input, input, parts.limitBytes)), fail);
      const answer = await inbox.next();
      if (answer.done === true) throw new ConnectError("the answer has no message", Code.Unimplemented);
      // Its status comes after it.
      const more = await inbox.next();
      if (more.done !== true) {
        void inbox.return?.();
        throw new ConnectError("the answer has more than one message", Code.Internal);
      }
      return { ...{ stream: false, service: method.parent, method, message: answer.value }, ...SAID_NOTHING };
    },
    async stream(method, signal, timeoutMs, _header, input) {
      const { stream, inbox, fail } = await openCall(parts, method, signal, timeoutMs);
      void sendAll(stream, method, input, parts.limitBytes).catch(fail);
      return { ...{ stream: true, service: method.parent, method, message: inbox }, ...SAID_NOTHING };
    },
  };
}

const SAID_NOTHING = { header: NO_HEADERS, trailer: NO_HEADERS };

type Call<O extends DescMessage> = {
  readonly stream: ClientHttp2Stream;
  /** Ends with the call: with an error unless its status is good. */
  readonly inbox: Inbox<MessageShape<O>>;
  /** Ends the call from our side. */
  readonly fail: (cause: unknown) => void;
};

async function openCall<O extends DescMessage>(
  { sessions, token, limitBytes }: GrpcTransportParts,
  method: DescMethod & { readonly output: O },
  signal: AbortSignal | undefined,
  timeoutMs: number | undefined,
): Promise<Call<O>> {
  if (signal?.aborted) throw cancelled();
  const deadlineMs = timeoutMs === undefined ? undefined : Math.min(Math.ceil(timeoutMs), LONGEST_TIMEOUT_MS);
  const headers = {
    "content-type": "application/grpc+proto",
    te: "trailers",
    authorization: `Bearer ${token}`,
    ...(deadlineMs === undefined ? {} : { "grpc-timeout": `${deadlineMs}m` }),
  };
  const lateAtMs = deadlineMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + deadlineMs;
  const stream = await sessions.request("POST", `/${method.parent.typeName}/${method.name}`, headers, {});
  let status: ConnectError | "good" | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const finish = (error: ConnectError | undefined) => {
    isOver = true;
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    inbox.end(error);
  };
  const fail = (cause: unknown) => {
    finish(ConnectError.from(cause));
    if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL);
  };
  const onAbort = () => fail(cancelled());
  const inbox = createInbox<MessageShape<O>>(() => stream.resume(), onAbort);
  const frames = createFrameReader(limitBytes, (message) =>
    inbox.put(fromBinary(method.output, message), message.byteLength),
  );
  const take = (chunk: Buffer) => {
    sessions.notifyResponseByteRead(stream);
    const fault = frames.take(chunk);
    if (fault === "compressed") fail(new ConnectError("a message is compressed, unasked", Code.Internal));
    if (fault === "too large") {
      fail(new ConnectError(`a message has more than ${limitBytes} bytes`, Code.ResourceExhausted));
    }
    if (inbox.isFull()) stream.pause();
  };
  stream.on("response", (head) => {
    status = statusOfHead(head);
  });
  stream.on("trailers", (trailers) => {
    status = statusOf(trailers);
  });
  stream.on("data", (chunk: Buffer) => {
    try {
      take(chunk);
    } catch (cause) {
      fail(new ConnectError("a message cannot be read", Code.Internal, undefined, undefined, cause));
    }
  });
  stream.on("end", () => {
    if (status === "good" && !frames.isAtEdge()) finish(new ConnectError("a message was cut off", Code.Internal));
    else if (status !== undefined) finish(status === "good" ? undefined : status);
  });
  stream.on("error", (cause) => finish(ConnectError.from(cause, Code.Unavailable)));
  stream.on("close", () => {
    if (!isOver) finish(status === "good" || status === undefined ? brokenOff(stream, lateAtMs) : status);
  });
  signal?.addEventListener("abort", onAbort, { once: true });
  if (deadlineMs !== undefined) {
    timer = setTimeout(() => fail(new ConnectError("it took too long", Code.DeadlineExceeded)), deadlineMs);
  }
  // It may have aborted while the connection was opened.
  if (signal?.aborted === true) onAbort();
  return { stream, inbox, fail };
}

function send(stream: ClientHttp2Stream, write: () => void, fail: (cause: unknown) => void): void {
  if (stream.closed || stream.destroyed) return;
  try {
    write();
  } catch (cause) {
    fail(cause);
  }
}

async function sendAll<I extends DescMessage>(
  stream: ClientHttp2Stream,
  method: DescMethod & { readonly input: I },
  messages: AsyncIterable<MessageInitShape<I>>,
  limitBytes: number,
): Promise<void> {
  for await (const message of messages) {
    if (stream.closed || stream.destroyed) return;
    const frame = frameFor(method.input, message, limitBytes);
    if (method.methodKind === "server_streaming") {
      // There is one message only: its frame can say so.
      stream.end(frame);
      return;
    }
    if (!stream.write(frame)) await hasRoom(stream);
  }
  stream.end();
}

function frameFor<I extends DescMessage>(schema: I, init: MessageInitShape<I>, limitBytes: number): Uint8Array {
  const bytes = toBinary(schema, create(schema, init));
  if (bytes.byteLength > limitBytes) {
    throw new ConnectError(
      `the message has ${bytes.byteLength} bytes, more than ${limitBytes}`,
      Code.ResourceExhausted,
    );
  }
  return frameOf(bytes);
}

function statusOfHead(head: IncomingHttpHeaders & IncomingHttpStatusHeader): ConnectError | undefined | "good" {
  const http = head[":status"] ?? 0;
  if (http !== 200) return new ConnectError(`HTTP ${http}`, HTTP_CODES.get(http) ?? Code.Unknown);
  const type = head["content-type"] ?? "";
  if (!type.startsWith("application/grpc")) return new ConnectError(`"${type}" is not gRPC`, Code.Unknown);
  return head["grpc-status"] === undefined ? undefined : statusOf(head);
}

function statusOf(trailers: IncomingHttpHeaders): ConnectError | "good" {
  const code = Number(trailers["grpc-status"] ?? Code.Unknown);
  if (code === 0) return "good";
  const words = String(trailers["grpc-message"] ?? "");
  return new ConnectError(decode(words), Code[code] === undefined ? Code.Unknown : code);
}

function decode(words: string): string {
  try {
    return decodeURIComponent(words);
  } catch {
    return words;
  }
}

function cancelled(): ConnectError {
  return new ConnectError("the call was cancelled", Code.Canceled);
}

/** Some servers, grpc-go's for one, reset what is late without a word, and their timer may be faster than ours. */
function brokenOff({ rstCode }: ClientHttp2Stream, lateAtMs: number): ConnectError {
  if (rstCode === constants.NGHTTP2_CANCEL && performance.now() >= lateAtMs) {
    return new ConnectError("it took too long", Code.DeadlineExceeded);
  }
  const code = rstCode === constants.NGHTTP2_ENHANCE_YOUR_CALM ? Code.ResourceExhausted : Code.Unavailable;
  return new ConnectError(`the call was broken off, HTTP/2 code ${rstCode ?? 0}`, code);
}
