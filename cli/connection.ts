import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import {
  create,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { END_STREAM_FLAG, openEnvelopeReader, packEnvelope } from "./envelope.ts";
import { readRefusal } from "./refusal.ts";
import { type Failed, fail, ok, type Result, thrownText } from "./trouble.ts";

/** The most bytes of one message that a client takes. */
const MESSAGE_LIMIT_BYTES = 64 * 1024 * 1024;
/** How long a connection that is not used is kept, milliseconds: the daemon keeps it much longer, so only this end ends it. */
export const IDLE_LIMIT_MS = 10_000;
/** How long one answer may take unless the caller says otherwise. */
const CALL_LIMIT_MS = 120_000;

/**
 * A door to the daemon. Speaks the Connect protocol over HTTP/1.1 with Node's own parser: the same request through
 * connect-node costs 60 ms more start, because it loads HTTP/2, TLS, zlib and, through `Headers`, undici.
 */
export type Connection = {
  /** One question, one answer. Fails `refused` with the daemon's own words, or `unreachable` when it went away. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    input: MessageInitShape<I>,
    more?: { readonly limitMs?: number },
  ): Promise<Result<MessageShape<O>>>;
  /** One question, many answers. A failure is the last item; a stream that the caller aborted just ends. */
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    input: MessageInitShape<I>,
    signal: AbortSignal,
  ): AsyncGenerator<Result<MessageShape<O>>, void, undefined>;
  close(): void;
};

/**
 * @param first a socket that is connected already
 * @param connect opens one more; streams and calls that overlap each need their own
 */
export function openConnection(first: Socket, connect: () => Socket): Connection {
  // `import "node:http"` would evaluate every lazy getter of the module, undici among them: 28 ms.
  const http = process.getBuiltinModule("node:http");
  const agent = new http.Agent({ keepAlive: true, timeout: IDLE_LIMIT_MS });
  let spare: Socket | undefined = first;
  agent.createConnection = () => {
    const socket = spare ?? connect();
    spare = undefined;
    return socket;
  };

  function post(path: string, type: string, body: Uint8Array, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request: ClientRequest = http.request({
        agent,
        host: "localhost",
        method: "POST",
        path,
        signal,
        headers: { "content-type": type, "content-length": body.length, "connect-protocol-version": "1" },
      });
      request.once("response", resolve);
      request.once("error", reject);
      request.end(body);
    });
  }

  return {
    async call(method, input, more = {}) {
      const limitMs = more.limitMs ?? CALL_LIMIT_MS;
      const timeout = AbortSignal.timeout(limitMs);
      try {
        const body = toBinary(method.input, create(method.input, input));
        const response = await post(methodPath(method), "application/proto", body, timeout);
        const bytes = await readAll(response);
        if (bytes === undefined) return tooLong(method.name);
        if (response.statusCode !== 200) return readRefusal(bytes.toString(), response.statusCode);
        return ok(fromBinary(method.output, bytes));
      } catch (cause) {
        return timeout.aborted ? tooLate(method.name, limitMs) : brokenOff(cause);
      }
    },
    async *stream(method, input, signal) {
      try {
        const body = packEnvelope(toBinary(method.input, create(method.input, input)));
        const response = await post(methodPath(method), "application/connect+proto", body, signal);
        if (response.statusCode !== 200) {
          yield readRefusal((await readAll(response))?.toString() ?? "", response.statusCode);
          return;
        }
        const cut = openEnvelopeReader(MESSAGE_LIMIT_BYTES);
        for await (const chunk of response) {
          const envelopes = cut(chunk as Uint8Array);
          if (envelopes === undefined) {
            yield tooLong(method.name);
            return;
          }
          for (const envelope of envelopes) {
            if ((envelope.flags & END_STREAM_FLAG) === 0) {
              yield ok(fromBinary(method.output, envelope.data));
              continue;
            }
            const end = JSON.parse(Buffer.from(envelope.data).toString()) as { error?: unknown };
            if (end.error !== undefined) yield readRefusal(JSON.stringify(end.error), undefined);
            return;
          }
        }
        // The body ended without the frame that says so: the daemon was killed.
        yield brokenOff(new Error("the stream was cut off"));
      } catch (cause) {
        if (!signal.aborted) yield brokenOff(cause);
      }
    },
    close() {
      spare?.destroy();
      agent.destroy();
    },
  };
}

function methodPath(method: { readonly name: string; readonly parent: { readonly typeName: string } }): string {
  return `/${method.parent.typeName}/${method.name}`;
}

async function readAll(response: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MESSAGE_LIMIT_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLong(method: string): Failed {
  return fail("failed", `the answer to ${method} is longer than ${MESSAGE_LIMIT_BYTES} bytes`, "ask for less at once");
}

function tooLate(method: string, limitMs: number): Failed {
  const message = `the daemon did not answer ${method} within ${limitMs / 1000} s`;
  return fail("failed", message, "claw doctor looks for the cause");
}

function brokenOff(cause: unknown): Failed {
  return fail("unreachable", `the connection to the daemon broke off: ${thrownText(cause)}`, "claw up starts it again");
}
