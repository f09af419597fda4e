import { timingSafeEqual } from "node:crypto";
import { constants, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescService,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { createFrameReader, frameOf } from "../grpc/frames.ts";
import { hasRoom } from "../grpc/has-room.ts";
import { createInbox } from "../grpc/inbox.ts";
import { digestOf } from "./bearer.ts";

const GRPC = "application/grpc+proto";
/** Of each unit that gRPC writes a deadline in, milliseconds. */
const UNITS_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };
/** The most that a timer counts. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** What an implementation may know of a call: its signal aborts when nobody waits any more. */
type CallFacts = Pick<HandlerContext, "signal">;

export type Routes = {
  /** Methods that are left out are answered by "unimplemented". */
  service<Service extends DescService>(service: Service, implementation: Partial<ServiceImpl<Service>>): void;
};

/** One method: all that came in, all that goes out. */
type Route = { readonly method: DescMethod; readonly run: (request: never, facts: CallFacts) => unknown };

/**
 * Answers gRPC on an HTTP/2 server, for whoever shows the token; nothing of a stranger is looked at. Messages have at most
 * `limitBytes`, either way, and are never compressed. What ends after `gone` aborted was cut short by that: it is no good end.
 */
export function routeGrpc(server: Http2Server, token: string, limitBytes: number, gone: AbortSignal): Routes {
  const routes = new Map<string, Route>();
  const expected = digestOf(`Bearer ${token}`);
  server.on("stream", (stream, headers) => {
    // Whoever called is gone then; the end of the stream tells.
    stream.on("error", () => {});
    const answer = openAnswer(stream, limitBytes);
    const type = headers["content-type"] ?? "";
    const route = routes.get(headers[":path"] ?? "");
    if (!type.startsWith("application/grpc")) {
      stream.respond({ ":status": constants.HTTP_STATUS_UNSUPPORTED_MEDIA_TYPE }, { endStream: true });
      stream.resume();
    } else if (!timingSafeEqual(digestOf(headers.authorization ?? ""), expected)) {
      answer.refuse(new ConnectError("the token of this call is missing or wrong", Code.Unauthenticated));
    } else if (route === undefined) {
      answer.refuse(new ConnectError(`there is no ${headers[":path"]} here`, Code.Unimplemented));
    } else void serveCall(route, stream, headers, answer, limitBytes, gone);
  });
  return {
    service(service, implementation) {
      for (const method of service.methods) {
        const run = (implementation as Readonly<Record<string, Route["run"] | undefined>>)[method.localName];
        if (run !== undefined) routes.set(`/${service.typeName}/${method.name}`, { method, run });
      }
    },
  };
}

/** What is said to a caller. */
type Answer = {
  /** Resolves when there is room for the next. Rejects what is too large. */
  say(schema: DescMessage, message: MessageInitShape<DescMessage>): Promise<void> | undefined;
  end(): void;
  refuse(cause: unknown): void;
};

function openAnswer(stream: ServerHttp2Stream, limitBytes: number): Answer {
  let status: ConnectError | undefined;
  const begin = () => {
    if (stream.headersSent) return;
    stream.respond({ ":status": 200, "content-type": GRPC }, { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers(trailersOf(status)));
  };
  return {
    say(schema, message) {
      if (stream.destroyed || stream.closed) return undefined;
      const bytes = toBinary(schema, create(schema, message));
      if (bytes.byteLength > limitBytes) {
        throw new ConnectError(
          `the message has ${bytes.byteLength} bytes, more than ${limitBytes}`,
          Code.ResourceExhausted,
        );
      }
      begin();
      return stream.write(frameOf(bytes)) ? undefined : hasRoom(stream);
    },
    end() {
      if (stream.destroyed || stream.closed) return;
      begin();
      stream.end();
    },
    refuse(cause) {
      if (stream.destroyed || stream.closed) return;
      // What else went wrong is the author's to know: it is in the log.
      const error = cause instanceof ConnectError ? cause : new ConnectError("internal error", Code.Internal);
      // Nobody reads what may still come.
      stream.resume();
      if (stream.headersSent) {
        status = error;
        stream.end();
      } else stream.respond({ ":status": 200, "content-type": GRPC, ...trailersOf(error) }, { endStream: true });
    },
  };
}

async function serveCall(
  { method, run }: Route,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  answer: Answer,
  limitBytes: number,
  gone: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  let isDone = false;
  const stop = (error: ConnectError) => {
    over.abort(error);
    requests.end(error);
  };
  const requests = readMessages(method.input, stream, limitBytes, stop);
  stream.once("close", () => {
    if (!isDone) stop(new ConnectError("nobody waits any more", Code.Canceled));
  });
  const timer = startDeadline(headers["grpc-timeout"], () => {
    const late = new ConnectError("it took too long", Code.DeadlineExceeded);
    answer.refuse(late);
    stop(late);
  });
  try {
    const request = method.methodKind === "bidi_streaming" ? requests : await theOnly(requests);
    const said = run(request as never, { signal: over.signal });
    if (method.methodKind === "unary") await answer.say(method.output, (await said) as MessageInitShape<DescMessage>);
    else {
      for await (const message of said as AsyncIterable<MessageInitShape<DescMessage>>) {
        const full = answer.say(method.output, message);
        if (full !== undefined) await full;
        if (over.signal.aborted) break;
      }
    }
    if (gone.aborted) answer.refuse(new ConnectError("the plugin ends, because its host is gone", Code.Canceled));
    else answer.end();
  } catch (cause) {
    if (!(cause instanceof ConnectError)) console.error(cause);
    answer.refuse(cause);
  } finally {
    isDone = true;
    clearTimeout(timer);
    // What may still come is dropped.
    requests.end();
    stream.resume();
  }
}

/** What a caller says, as messages. What is none ends the call by `stop`. */
function readMessages<Input extends DescMessage>(
  schema: Input,
  stream: ServerHttp2Stream,
  limitBytes: number,
  stop: (error: ConnectError) => void,
) {
  const inbox = createInbox<MessageShape<Input>>(
    () => stream.resume(),
    () => stream.resume(),
  );
  const frames = createFrameReader(limitBytes, (message) => inbox.put(fromBinary(schema, message), message.byteLength));
  stream.on("data", (chunk: Buffer) => {
    try {
      const fault = frames.take(chunk);
      if (fault === "too large") {
        stop(new ConnectError(`a message has more than ${limitBytes} bytes`, Code.ResourceExhausted));
      }
      if (fault === "compressed") stop(new ConnectError("a message is compressed, unasked", Code.Unimplemented));
    } catch (cause) {
      stop(new ConnectError("a message cannot be read", Code.InvalidArgument, undefined, undefined, cause));
    }
    if (inbox.isFull()) stream.pause();
  });
  stream.once("end", () =>
    inbox.end(frames.isAtEdge() ? undefined : new ConnectError("a message was cut off", Code.InvalidArgument)),
  );
  return inbox;
}

async function theOnly<T>(messages: AsyncIterator<T>): Promise<T> {
  const first = await messages.next();
  if (first.done === true) throw new ConnectError("the request has no message", Code.Unimplemented);
  const more = await messages.next();
  if (more.done !== true) throw new ConnectError("the request has more than one message", Code.Unimplemented);
  return first.value;
}

function startDeadline(text: string | string[] | undefined, onLate: () => void): NodeJS.Timeout | undefined {
  const [, count, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(String(text)) ?? [];
  if (count === undefined) return undefined;
  return setTimeout(onLate, Math.min(Number(count) * (UNITS_MS[unit] ?? 1), LONGEST_TIMER_MS));
}

function trailersOf(error: ConnectError | undefined): Record<string, string> {
  if (error === undefined) return { "grpc-status": "0" };
  return { "grpc-status": String(error.code), "grpc-message": encodeURIComponent(error.rawMessage) };
}
