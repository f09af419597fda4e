import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** A piece of a scripted reply. `pieces` are the deltas that it comes in; by default it comes in one. */
export type ModelBlock =
  | { readonly text: string; readonly pieces?: readonly string[] }
  | { readonly thinking: string; readonly signature: string; readonly pieces?: readonly string[] }
  | { readonly redacted: string }
  | { readonly call: string; readonly args: JsonObject; readonly id?: string; readonly pieces?: readonly string[] }
  /** A call whose argument text is sent as it stands, JSON or not. */
  | { readonly call: string; readonly rawArgs: string; readonly id?: string };

export type ModelUsage = {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cache_read_input_tokens?: number;
  readonly cache_creation_input_tokens?: number;
};

/** What the server answers to one request. */
export type ModelReply =
  | {
      readonly blocks: readonly ModelBlock[];
      /** Default `tool_use` when there are calls, else `end_turn`. */
      readonly stop?: string;
      readonly usage?: ModelUsage;
      /** Wait before each event, milliseconds. */
      readonly eventDelayMs?: number;
      /** Wait between the last event and the end of the response, milliseconds. */
      readonly endDelayMs?: number;
      /** Sends only so many events, then cuts the connection, or keeps it open and silent. */
      readonly only?: { readonly events: number; readonly ending: "cut" | "end" | "stall" };
      /** Puts this event (with its `event:` line) after so many events. */
      readonly insert?: { readonly after: number; readonly sse: string };
      /** Writes the stream in pieces of so many bytes, each its own write. */
      readonly writeBytes?: number;
    }
  /** An HTTP answer of any kind. */
  | { readonly status: number; readonly body: JsonValue | string; readonly headers?: Readonly<Record<string, string>> }
  /** An event stream sent as it stands. */
  | { readonly sse: string }
  /** Takes the request and never answers. */
  | { readonly silence: true };

/** One request as it arrived. The body is kept as text and parsed when asked for. */
export type ModelRequest = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  json(): JsonObject;
  /** Resolves when the connection of this request is over, whoever ended it. */
  readonly closed: Promise<void>;
};

export type ModelScript =
  | readonly ModelReply[]
  | ((request: ModelRequest, index: number) => ModelReply | Promise<ModelReply>)
  | ModelLoop;

/**
 * Rounds for a benchmark: `rounds` replies that read one of the paths after the other, then a text, then from the start
 * again. Bodies are thrown away, replies are made beforehand.
 */
export type ModelLoop = { readonly rounds: number; readonly paths: readonly string[] };

export type ModelServer = {
  /** The base URL to configure, without a path. */
  readonly url: string;
  requests(): readonly ModelRequest[];
  /** How many connections were opened so far. */
  connections(): number;
  /** Resolves when the request of this index (from 0) has arrived. */
  arrived(index: number): Promise<ModelRequest>;
  close(): Promise<void>;
};

/** A server on a loopback port that speaks Anthropic's Messages API from a script. A list that ran out answers 500. */
export async function startModelServer(script: ModelScript): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const waiting = new Map<number, (request: ModelRequest) => void>();
  const loop = "rounds" in script ? loopReplies(script) : undefined;
  let answered = 0;

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (loop !== undefined) {
      incoming.resume();
      await once(incoming, "end");
      const bytes = loop[answered % loop.length];
      answered += 1;
      response.writeHead(200, STREAM_HEADERS).end(bytes);
      return;
    }
    const request = await receive(incoming, response);
    const index = requests.push(request) - 1;
    waiting.get(index)?.(request);
    if (!request.path.endsWith("/v1/messages")) {
      return send(response, {
        status: 404,
        body: { type: "error", error: { type: "not_found_error", message: "Not found" } },
      });
    }
    send(response, await replyTo(script as Exclude<ModelScript, ModelLoop>, request, index));
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((cause: unknown) => response.destroy(cause instanceof Error ? cause : undefined));
  });
  let connections = 0;
  server.on("connection", () => {
    connections += 1;
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    connections: () => connections,
    arrived: (index) => {
      const request = requests[index];
      return request !== undefined ? Promise.resolve(request) : new Promise((resolve) => waiting.set(index, resolve));
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

const STREAM_HEADERS = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };

async function replyTo(
  script: Exclude<ModelScript, ModelLoop>,
  request: ModelRequest,
  index: number,
): Promise<ModelReply> {
  if (typeof script === "function") return await script(request, index);
  const body = { type: "error", error: { type: "api_error", message: "the script is over" } };
  return script[index] ?? { status: 500, body, headers: { "x-should-retry": "false" } };
}

async function receive(incoming: IncomingMessage, response: ServerResponse): Promise<ModelRequest> {
  const closed = new Promise<void>((resolve) => response.once("close", resolve));
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  return {
    path: incoming.url ?? "",
    headers: incoming.headers,
    json: () => JSON.parse(body.toString("utf8")) as JsonObject,
    closed,
  };
}

function send(response: ServerResponse, reply: ModelReply): void {
  if ("silence" in reply) return;
  if ("sse" in reply) {
    response.writeHead(200, STREAM_HEADERS).end(reply.sse);
    return;
  }
  if ("status" in reply) {
    const text = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body);
    const kind = typeof reply.body === "string" ? "text/plain" : "application/json";
    response.writeHead(reply.status, { "content-type": kind, ...reply.headers }).end(text);
    return;
  }
  play(response, reply).catch((cause: unknown) => response.destroy(cause instanceof Error ? cause : undefined));
}

async function play(response: ServerResponse, reply: Extract<ModelReply, { blocks: unknown }>): Promise<void> {
  const { eventDelayMs = 0, endDelayMs = 0, only, insert, writeBytes } = reply;
  let events = replyEvents(reply.blocks, reply.stop, reply.usage);
  if (insert !== undefined) events = events.toSpliced(insert.after, 0, insert.sse);
  if (only !== undefined) events = events.slice(0, only.events);
  response.writeHead(200, STREAM_HEADERS);
  if (eventDelayMs > 0) {
    for (const event of events) {
      await wait(eventDelayMs);
      if (response.destroyed) return;
      response.write(event);
    }
  } else if (writeBytes !== undefined) {
    await writeInPieces(response, Buffer.from(events.join("")), writeBytes);
  } else {
    response.write(events.join(""));
  }
  if (only?.ending === "stall") return;
  if (endDelayMs > 0) await wait(endDelayMs);
  // The headers and events have to be out before the cut, or there would be nothing to cut.
  if (only?.ending === "cut") response.write("", () => response.destroy());
  else response.end();
}

async function writeInPieces(response: ServerResponse, bytes: Buffer, size: number): Promise<void> {
  response.socket?.setNoDelay(true);
  for (let from = 0; from < bytes.length && !response.destroyed; from += size) {
    await new Promise((resolve) => response.write(bytes.subarray(from, from + size), resolve));
  }
}

/** The events of a whole reply, each with its name, ready to be written. */
export function replyEvents(blocks: readonly ModelBlock[], stop?: string, usage: ModelUsage = {}): readonly string[] {
  const { output_tokens = 7, ...input } = { input_tokens: 11, ...usage };
  const message = { id: "msg_test", type: "message", role: "assistant", model: "test", content: [], stop_reason: null };
  const reason = stop ?? (blocks.some((block) => "call" in block) ? "tool_use" : "end_turn");
  return [
    sse("message_start", { message: { ...message, usage: { ...input, output_tokens: 1 } } }),
    sse("ping", {}),
    ...blocks.flatMap(blockEvents),
    sse("message_delta", { delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens } }),
    sse("message_stop", {}),
  ];
}

function blockEvents(block: ModelBlock, index: number): readonly string[] {
  const begin = (content_block: JsonObject) => sse("content_block_start", { index, content_block });
  const grow = (delta: JsonObject) => sse("content_block_delta", { index, delta });
  const end = sse("content_block_stop", { index });
  if ("redacted" in block) return [begin({ type: "redacted_thinking", data: block.redacted }), end];
  if ("thinking" in block) {
    const deltas = (block.pieces ?? [block.thinking]).map((thinking) => grow({ type: "thinking_delta", thinking }));
    const signature = grow({ type: "signature_delta", signature: block.signature });
    return [begin({ type: "thinking", thinking: "", signature: "" }), ...deltas, signature, end];
  }
  if ("text" in block) {
    const deltas = (block.pieces ?? [block.text]).map((text) => grow({ type: "text_delta", text }));
    return [begin({ type: "text", text: "" }), ...deltas, end];
  }
  const json = "rawArgs" in block ? [block.rawArgs] : (block.pieces ?? [JSON.stringify(block.args)]);
  const deltas = ["", ...json].map((partial_json) => grow({ type: "input_json_delta", partial_json }));
  return [begin({ type: "tool_use", id: block.id ?? `toolu_${index}`, name: block.call, input: {} }), ...deltas, end];
}

function sse(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function loopReplies({ rounds, paths }: ModelLoop): readonly Buffer[] {
  const calls = Array.from({ length: rounds }, (_, round) => {
    const path = paths[round % paths.length] ?? "";
    return replyEvents([{ call: "read", args: { path }, id: `toolu_${round}` }]);
  });
  return [...calls, replyEvents([{ text: "Done." }])].map((events) => Buffer.from(events.join("")));
}
