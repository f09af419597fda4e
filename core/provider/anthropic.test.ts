import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { blocksOf, collect, READ_NOTES, testProviderContract, userSays } from "../../tests/contracts/provider.ts";
import {
  type ModelReply,
  type ModelScript,
  type ModelServer,
  replyEvents,
  startModelServer,
} from "../../tests/kit/model-server.ts";
import type { Chunk, Message, Prompt, Provider } from "../domain/provider.ts";
import { MALFORMED_ARGS } from "../domain/provider.ts";
import { type AnthropicOptions, anthropicProvider } from "./anthropic.ts";

const servers: ModelServer[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(script: ModelScript): Promise<ModelServer> {
  const server = await startModelServer(script);
  servers.push(server);
  return server;
}

function connect(server: { readonly url: string }, more: Partial<AnthropicOptions> = {}): Provider {
  return anthropicProvider({
    apiKey: "sk-test-key",
    baseUrl: server.url,
    model: "claude-sonnet-5-5",
    maxOutputTokens: 1000,
    maxRetries: 0,
    ...more,
  });
}

async function replyTo(reply: ModelReply, more?: Partial<AnthropicOptions>): Promise<readonly Chunk[]> {
  return await collect(connect(await serve([reply]), more), READ_NOTES);
}

function failureOf(chunks: readonly Chunk[]) {
  const last = chunks.at(-1);
  if (last?.kind !== "failed") throw new Error(`not failed: ${JSON.stringify(last)}`);
  return last.failure;
}

function asks(...messages: readonly Message[]): Prompt {
  return { ...READ_NOTES, messages };
}

function sentMessages(server: ModelServer, index: number): unknown {
  return server.requests()[index]?.json().messages;
}

testProviderContract("anthropic", async () => {
  const server = await startModelServer((request) =>
    JSON.stringify(request.json().messages).includes("three fish")
      ? { blocks: [{ text: "There are three fish in it.", pieces: ["There are ", "three fish", " in it."] }] }
      : {
          blocks: [
            { text: "I will look.", pieces: ["I will", " look."] },
            { call: "read", args: { path: "notes.md" } },
          ],
        },
  );
  return { provider: connect(server), close: () => server.close() };
});

describe("a reply", () => {
  test("arrives as text, thinking with its signature, redacted thinking and calls, in their order", async () => {
    const chunks = await replyTo({
      blocks: [
        { thinking: "Let me see", signature: "c2ln", pieces: ["Let me", " see"] },
        { redacted: "b3BhcXVl" },
        { text: "Looking." },
        {
          call: "read",
          args: { path: "a.txt", lines: [1, 2] },
          id: "toolu_a",
          pieces: ['{"pa', 'th":"a.t', 'xt","lines":', "[1,2]}"],
        },
        { call: "list", args: {}, id: "toolu_b" },
      ],
      usage: { input_tokens: 5, output_tokens: 9, cache_read_input_tokens: 300, cache_creation_input_tokens: 20 },
    });
    expect(chunks).toEqual([
      { kind: "delta", block: 0, of: "thinking", text: "Let me" },
      { kind: "delta", block: 0, of: "thinking", text: " see" },
      { kind: "block", block: 0, content: { kind: "thinking", text: "Let me see", signature: "c2ln", redacted: "" } },
      { kind: "block", block: 1, content: { kind: "thinking", text: "", signature: "", redacted: "b3BhcXVl" } },
      { kind: "delta", block: 2, of: "text", text: "Looking." },
      { kind: "block", block: 2, content: { kind: "text", text: "Looking." } },
      {
        kind: "block",
        block: 3,
        content: { kind: "toolCall", callId: "toolu_a", tool: "read", args: { path: "a.txt", lines: [1, 2] } },
      },
      { kind: "block", block: 4, content: { kind: "toolCall", callId: "toolu_b", tool: "list", args: {} } },
      {
        kind: "end",
        stop: "calls",
        usage: { inputTokens: 5, outputTokens: 9, cacheReadTokens: 300, cacheWriteTokens: 20 },
      },
    ]);
  });

  test.each([1, 3, 7])("survives being cut into pieces of %i bytes, also inside a character", async (writeBytes) => {
    const text = "Grüße, 世界 👩‍👩‍👧 and \u2028 too";
    const chunks = await replyTo({ blocks: [{ text }, { call: "read", args: { path: "👾.txt" } }], writeBytes });
    expect(blocksOf(chunks)).toMatchObject([{ text }, { args: { path: "👾.txt" } }]);
  });

  test("never shows half a surrogate pair", async () => {
    const chunks = await replyTo({
      blocks: [{ text: "", pieces: ["a\ud83d", "\ude00b\ud83d", "\ud83d\ude00", "c\ud83d"] }],
    });
    const deltas = chunks.flatMap((chunk) => (chunk.kind === "delta" ? [chunk.text] : []));
    for (const delta of deltas.slice(0, 2)) expect(delta.isWellFormed()).toBe(true);
    expect(blocksOf(chunks)).toEqual([{ kind: "text", text: "a😀b\ufffd😀c\ufffd" }]);
  });

  test.each([
    ["half an object", '{"path":"a'],
    ["a list", "[1]"],
    ["a word", "notes.md"],
    ["null", "null"],
    ["a number that nothing can hold", '{"limit":1e999}'],
  ])(
    "keeps arguments that are %s as what they are, so that nobody runs the call without them",
    async (_what, rawArgs) => {
      const chunks = await replyTo({ blocks: [{ call: "list", rawArgs }] });
      expect(blocksOf(chunks)).toEqual([
        { kind: "toolCall", callId: "toolu_0", tool: "list", args: { [MALFORMED_ARGS]: rawArgs } },
      ]);
      expect(chunks.at(-1)).toMatchObject({ kind: "end", stop: "calls" });
    },
  );

  test.each([
    ["end_turn", "done"],
    ["stop_sequence", "done"],
    ["tool_use", "done"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "refused"],
    ["something_new", "done"],
  ])("that stopped for %s and has no calls ends as %s", async (stop, expected) => {
    expect((await replyTo({ blocks: [{ text: "x" }], stop })).at(-1)).toMatchObject({ kind: "end", stop: expected });
  });

  test("with calls ends as calls even when the server calls it the end of the turn", async () => {
    const chunks = await replyTo({ blocks: [{ call: "list", args: {} }], stop: "end_turn" });
    expect(chunks.at(-1)).toMatchObject({ kind: "end", stop: "calls" });
  });

  test("may hold events and blocks that are not known yet", async () => {
    const events = replyEvents([{ text: "hi" }])
      .join("")
      .replaceAll('"index":0', '"index":1');
    const news =
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"hologram"}}\n\n';
    const chunks = await replyTo({ sse: `event: fanfare\ndata: {"type":"fanfare"}\n\n${news}${events}` });
    expect(blocksOf(chunks)).toEqual([{ kind: "text", text: "hi" }]);
    expect(chunks[0]).toMatchObject({ block: 0 });
  });
});

describe("a broken stream", () => {
  test.each(["cut", "end"] as const)(
    "is unavailable when the connection is %s in the middle, and what was said is kept",
    async (how) => {
      const chunks = await replyTo({ blocks: [{ text: "half" }], only: { events: 4, ending: how } });
      expect(chunks[0]).toEqual({ kind: "delta", block: 0, of: "text", text: "half" });
      expect(failureOf(chunks)).toMatchObject({ code: "unavailable", message: expect.stringContaining("broke off") });
    },
  );

  test("is unavailable when an event is not JSON or a block was not closed", async () => {
    const events = replyEvents([{ text: "hi" }]);
    const torn = await replyTo({
      sse: `${events.slice(0, 3).join("")}event: content_block_delta\ndata: {"type":"conten\n\n`,
    });
    expect(failureOf(torn)).toMatchObject({ code: "unavailable", message: expect.stringContaining("not JSON") });
    const open = await replyTo({ sse: events.filter((event) => !event.includes("content_block_stop")).join("") });
    expect(failureOf(open).message).toContain("inside a block");
  });

  test("is an ordinary failure when the server says null, numbers or nonsense", async () => {
    for (const data of ["null", "7", '"x"', "[]", '{"type":"content_block_delta"}', '{"type":"content_block_start"}']) {
      const chunks = await replyTo({ sse: `event: x\ndata: ${data}\n\n` });
      expect(failureOf(chunks).code).toBe("unavailable");
    }
  });

  test("is timed out when the server goes silent, before the first event or after it", async () => {
    expect(failureOf(await replyTo({ silence: true }, { timeoutMs: 80 }))).toMatchObject({ code: "timed_out" });
    const stalled = await replyTo(
      { blocks: [{ text: "half" }], only: { events: 4, ending: "stall" } },
      { timeoutMs: 80 },
    );
    expect(failureOf(stalled).code).toBe("timed_out");
  });

  test("is none when the server is slow but never silent for too long", async () => {
    const chunks = await replyTo(
      { blocks: [{ text: "abc", pieces: ["a", "b", "c"] }], eventDelayMs: 150 },
      { timeoutMs: 1000 },
    );
    expect(chunks.at(-1)?.kind).toBe("end");
  });

  test("is none when it is the reader who takes long", async () => {
    const server = await serve([{ blocks: [{ text: "0123456789", pieces: [..."0123456789"] }], eventDelayMs: 100 }]);
    const chunks: Chunk[] = [];
    for await (const chunk of connect(server, { timeoutMs: 600 }).stream(READ_NOTES, new AbortController().signal)) {
      chunks.push(chunk);
      if (chunks.length === 1) await new Promise((resolve) => setTimeout(resolve, 800));
    }
    expect(chunks.at(-1)?.kind).toBe("end");
  });

  test("is tried again as long as nothing was said, and not afterwards", async () => {
    const overloaded = {
      after: 2,
      sse: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    };
    const early = await serve([{ blocks: [{ text: "one" }], insert: overloaded }, { blocks: [{ text: "two" }] }]);
    const chunks = await collect(connect(early, { maxRetries: 1 }), READ_NOTES);
    expect(blocksOf(chunks)).toEqual([{ kind: "text", text: "two" }]);
    const late = await serve([
      { blocks: [{ text: "one" }], insert: { ...overloaded, after: 4 } },
      { blocks: [{ text: "two" }] },
    ]);
    expect(failureOf(await collect(connect(late, { maxRetries: 1 }), READ_NOTES))).toMatchObject({
      code: "unavailable",
    });
    expect(late.requests()).toHaveLength(1);
  });
});

describe("a refusal", () => {
  const error = (type: string, message: string) => ({ type: "error", error: { type, message } });

  test.each([
    [401, "authentication_error", "invalid x-api-key", "denied", /ANTHROPIC_API_KEY.*\[providers\.anthropic\]/],
    [403, "permission_error", "not yours", "denied", /ANTHROPIC_API_KEY/],
    [402, "billing_error", "no money", "exhausted", /billing/],
    [404, "not_found_error", "model: claude-nope", "not_found", /model's name/],
    [413, "request_too_large", "too large", "exhausted", /new session/],
    [400, "invalid_request_error", "prompt is too long: 1000001 tokens > 1000000 maximum", "exhausted", /new session/],
    [
      400,
      "invalid_request_error",
      "You have reached your specified API usage limits: spend limit",
      "exhausted",
      /billing/,
    ],
    [400, "invalid_request_error", "tools.0.name: bad", "invalid", /see the message/],
    [429, "rate_limit_error", "slow down", "exhausted", /wait/],
    [500, "api_error", "Internal", "unavailable", /wait/],
    [529, "overloaded_error", "Overloaded", "unavailable", /wait/],
    [504, "timeout_error", "Timed out", "timed_out", /wait/],
  ])("%i %s (%s) becomes %s with a next move", async (status, type, message, code, hint) => {
    const failure = failureOf(await replyTo({ status, body: error(type, message) }));
    expect(failure).toMatchObject({
      code,
      message: expect.stringContaining(message),
      hint: expect.stringMatching(hint),
    });
    expect(failure.cause).toBeDefined();
  });

  test("names how long to wait and is not waited for when that is long", async () => {
    const reply = { status: 429, body: error("rate_limit_error", "slow down"), headers: { "retry-after": "90" } };
    const server = await serve([reply, { blocks: [{ text: "never" }] }]);
    const failure = failureOf(await collect(connect(server, { maxRetries: 2 }), READ_NOTES));
    expect(failure).toMatchObject({ code: "exhausted", hint: "wait 90 s and say it again" });
    expect(server.requests()).toHaveLength(1);
  });

  test("that may pass is tried again, as often as allowed", async () => {
    const busy = { status: 529, body: error("overloaded_error", "Overloaded"), headers: { "retry-after-ms": "1" } };
    const patient = await serve([busy, busy, { blocks: [{ text: "at last" }] }]);
    expect(blocksOf(await collect(connect(patient, { maxRetries: 2 }), READ_NOTES))).toEqual([
      { kind: "text", text: "at last" },
    ]);
    const hopeless = await serve([busy, busy, busy]);
    expect(failureOf(await collect(connect(hopeless, { maxRetries: 2 }), READ_NOTES)).code).toBe("unavailable");
    expect(hopeless.requests()).toHaveLength(3);
  });

  test("is not tried again when the server says so or when it cannot help", async () => {
    const never = { status: 500, body: error("api_error", "x"), headers: { "x-should-retry": "false" } };
    for (const reply of [never, { status: 401, body: error("authentication_error", "x") }]) {
      const server = await serve([reply, { blocks: [{ text: "never" }] }]);
      expect((await collect(connect(server, { maxRetries: 2 }), READ_NOTES)).at(-1)?.kind).toBe("failed");
      expect(server.requests()).toHaveLength(1);
    }
  });

  test("with an abort during the wait is cancelled", async () => {
    const server = await serve([{ status: 429, body: "x", headers: { "retry-after": "20" } }]);
    const abort = new AbortController();
    const reply = collect(connect(server, { maxRetries: 1 }), READ_NOTES, abort.signal);
    await (await server.arrived(0)).closed;
    abort.abort();
    expect(failureOf(await reply).code).toBe("cancelled");
  });

  test("in words of a proxy is cut short, and never repeats the key", async () => {
    const page = `<html>${"x".repeat(5000)}</html>`;
    expect(failureOf(await replyTo({ status: 502, body: page })).message.length).toBeLessThan(500);
    const echo = failureOf(
      await replyTo({ status: 400, body: error("invalid_request_error", "bad header: sk-test-key") }),
    );
    expect(echo.message).toContain("(the API key)");
    expect(echo.message).not.toContain("sk-test-key");
  });

  test("a redirect is not followed, because it would carry the key along", async () => {
    const other = await serve([{ blocks: [{ text: "stolen" }] }]);
    const failure = failureOf(
      await replyTo({ status: 307, body: "", headers: { location: `${other.url}/v1/messages` } }),
    );
    expect(failure.message).toContain("307");
    expect(other.requests()).toHaveLength(0);
  });
});

describe("the connection", () => {
  test("to nobody fails and names the address and the reason", async () => {
    const server = await startModelServer([]);
    await server.close();
    const failure = failureOf(await collect(connect(server), READ_NOTES));
    expect(failure).toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/127\.0\.0\.1:\d+.*ECONNREFUSED/),
    });
    expect(failure.hint).toContain("base_url");
  });

  test("to another kind of server fails and says what it answered", async () => {
    const site = createServer((_request, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<p>hi"),
    );
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    expect(failureOf(await collect(connect({ url }), READ_NOTES)).message).toContain("text/html");
    site.closeAllConnections();
    site.close();
  });

  test.each(["/proxy/anthropic", "/proxy/anthropic/", "/proxy/anthropic/v1", "/proxy/anthropic/v1/"])(
    "keeps the path %s of the base URL",
    async (path) => {
      const server = await serve([{ blocks: [{ text: "hi" }] }]);
      await collect(connect({ url: server.url + path }), READ_NOTES);
      expect(server.requests()[0]?.path).toBe("/proxy/anthropic/v1/messages");
    },
  );

  test("is closed by an abort, and by a reader that leaves", async () => {
    const stall = { blocks: [{ text: "half" }], only: { events: 4, ending: "stall" } } as const;
    const server = await serve([stall, stall]);
    const provider = connect(server);
    const abort = new AbortController();
    for await (const chunk of provider.stream(READ_NOTES, abort.signal)) if (chunk.kind === "delta") abort.abort();
    await server.requests()[0]?.closed;
    for await (const chunk of provider.stream(READ_NOTES, new AbortController().signal))
      if (chunk.kind === "delta") break;
    await server.requests()[1]?.closed;
    expect(server.requests()).toHaveLength(2);
  });

  test("is closed by an abort while the server has not answered at all", async () => {
    const server = await serve([{ silence: true }]);
    const abort = new AbortController();
    const reply = collect(connect(server), READ_NOTES, abort.signal);
    const request = await server.arrived(0);
    abort.abort();
    expect(failureOf(await reply).code).toBe("cancelled");
    await request.closed;
  });

  test("is used again for the next call, also when it ends a little after the reply", async () => {
    const server = await serve(() => ({ blocks: [{ text: "hi" }], endDelayMs: 5 }));
    const provider = connect(server);
    for (let round = 0; round < 6; round += 1) {
      await collect(provider, READ_NOTES);
      await server.requests()[round]?.closed;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(server.connections()).toBeLessThan(4);
  });

  test("is given up when it does not end after the reply, and the reply is not held up by that", async () => {
    const server = await serve([{ blocks: [{ text: "hi" }], only: { events: 99, ending: "stall" } }]);
    expect((await collect(connect(server), READ_NOTES)).at(-1)?.kind).toBe("end");
    await server.requests()[0]?.closed;
  });

  test("carries the rounds of a benchmark's loop, which begins again after its last reply", async () => {
    const provider = connect(await serve({ rounds: 3, paths: ["a", "b"] }));
    const rounds = [];
    for (let round = 0; round < 8; round += 1) rounds.push(...blocksOf(await collect(provider, READ_NOTES)));
    expect(rounds.map((block) => (block.kind === "toolCall" ? block.args.path : block.kind))).toEqual([
      "a",
      "b",
      "a",
      "text",
      "a",
      "b",
      "a",
      "text",
    ]);
  });

  test("leaves no listener on a signal that lives long", async () => {
    const server = await serve(() => ({ blocks: [{ text: "hi" }] }));
    const provider = connect(server);
    const abort = new AbortController();
    const add = vi.spyOn(abort.signal, "addEventListener");
    const remove = vi.spyOn(abort.signal, "removeEventListener");
    for (let round = 0; round < 5; round += 1) await collect(provider, READ_NOTES, abort.signal);
    expect(remove.mock.calls.length).toBe(add.mock.calls.length);
  });

  test("takes nothing from the environment", async () => {
    const server = await serve([{ blocks: [{ text: "hi" }] }]);
    vi.stubEnv("ANTHROPIC_API_KEY", "sk-env");
    vi.stubEnv("ANTHROPIC_AUTH_TOKEN", "token-env");
    vi.stubEnv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    vi.stubEnv("ANTHROPIC_CUSTOM_HEADERS", "authorization: Bearer evil\nx-spy: yes\nanthropic-beta: spy");
    vi.stubEnv("ANTHROPIC_LOG", "debug");
    expect((await collect(connect(server), READ_NOTES)).at(-1)?.kind).toBe("end");
    const headers = server.requests()[0]?.headers;
    expect(headers).toMatchObject({ authorization: "Bearer sk-test-key", "x-api-key": "sk-test-key" });
    expect(headers).not.toHaveProperty("x-spy");
    expect(headers).not.toHaveProperty("anthropic-beta");
  });

  test.each([
    [{ apiKey: "" }, "denied", /no API key/],
    [{ apiKey: "sk\nevil: 1" }, "denied", /characters/],
    [{ baseUrl: "api.anthropic.com" }, "invalid", /not the address/],
    [{ baseUrl: "ftp://x" }, "invalid", /not the address/],
  ] as const)("is not tried with settings that cannot work: %j", async (more, code, message) => {
    const failure = failureOf(await collect(connect({ url: "http://127.0.0.1:9" }, more), READ_NOTES));
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});

describe("a request", () => {
  async function bodyOf(prompt: Prompt, model = "claude-sonnet-5-5") {
    const server = await serve([{ blocks: [{ text: "hi" }] }]);
    await collect(connect(server, { model }), prompt);
    return server.requests()[0]?.json();
  }
  const mark = { cache_control: { type: "ephemeral" } };

  test("marks the tools, the system prompt and the last message for the vendor's cache", async () => {
    const body = await bodyOf(
      asks(userSays("a"), { role: "assistant", content: [{ kind: "text", text: "b" }] }, userSays("c")),
    );
    expect(body).toEqual({
      model: "claude-sonnet-5-5",
      max_tokens: 1000,
      stream: true,
      thinking: { type: "adaptive", display: "summarized" },
      system: [{ type: "text", text: "You are tested.", ...mark }],
      tools: [{ name: "read", description: "Reads a file", input_schema: READ_NOTES.tools[0]?.input, ...mark }],
      messages: [
        { role: "user", content: [{ type: "text", text: "a" }] },
        { role: "assistant", content: [{ type: "text", text: "b" }] },
        { role: "user", content: [{ type: "text", text: "c", ...mark }] },
      ],
    });
  });

  test("leaves out what is empty", async () => {
    expect(
      Object.keys((await bodyOf({ model: "other", system: "", messages: [userSays("a")], tools: [] })) ?? {}),
    ).toEqual(["model", "max_tokens", "stream", "messages"]);
  });

  test.each([
    ["claude-sonnet-5-5", true],
    ["claude-opus-4-6", true],
    ["claude-fable-5", true],
    ["claude-opus-4-5-20251101", false],
    ["claude-opus-4-20250514", false],
    ["claude-haiku-4-5", false],
    ["llama", false],
  ])("to %s asks for readable thinking: %s", async (model, expected) => {
    expect("thinking" in ((await bodyOf(READ_NOTES, model)) ?? {})).toBe(expected);
  });

  test("sends thinking back unchanged, results before words, and nothing that the vendor would refuse", async () => {
    const body = await bodyOf(
      asks(
        userSays("go"),
        {
          role: "assistant",
          content: [
            { kind: "thinking", text: "hm", signature: "sig", redacted: "" },
            { kind: "thinking", text: "", signature: "", redacted: "opaque" },
            { kind: "thinking", text: "foreign", signature: "", redacted: "" },
            { kind: "text", text: " \n" },
            { kind: "toolCall", callId: "call:1", tool: "read", args: { path: "a\ud83d", deep: [{ x: "\udc00" }] } },
          ],
        },
        {
          role: "user",
          content: [
            { kind: "text", text: "wait" },
            { kind: "toolResult", callId: "call:1", text: "boom\ud83d", isError: true },
          ],
        },
        { role: "assistant", content: [{ kind: "thinking", text: "cut off", signature: "sig2", redacted: "" }] },
        userSays("go on"),
      ),
    );
    expect(body?.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "go" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "sig" },
          { type: "redacted_thinking", data: "opaque" },
          { type: "tool_use", id: "call_1", name: "read", input: { path: "a\ufffd", deep: [{ x: "\ufffd" }] } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_1", content: "boom\ufffd", is_error: true },
          { type: "text", text: "wait" },
        ],
      },
      { role: "user", content: [{ type: "text", text: "go on", ...mark }] },
    ]);
  });

  test("with nothing to answer is not sent", async () => {
    const server = await serve([]);
    expect(failureOf(await collect(connect(server), asks(userSays("  "))))).toMatchObject({ code: "invalid" });
    expect(server.requests()).toHaveLength(0);
  });

  test("whose thinking was refused is sent once more without it, and stays without it", async () => {
    const message =
      "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.";
    const server = await serve((_request, index) =>
      index === 0
        ? { status: 400, body: { type: "error", error: { type: "invalid_request_error", message } } }
        : { blocks: [{ text: "hi" }] },
    );
    const provider = connect(server);
    const content = [
      { kind: "thinking", text: "hm", signature: "s", redacted: "" },
      { kind: "text", text: "b" },
    ] as const;
    const prompt = asks(userSays("a"), { role: "assistant", content }, userSays("c"));
    expect((await collect(provider, prompt)).at(-1)?.kind).toBe("end");
    expect((await collect(provider, prompt)).at(-1)?.kind).toBe("end");
    expect(JSON.stringify(sentMessages(server, 0))).toContain("thinking");
    for (const index of [1, 2]) expect(JSON.stringify(sentMessages(server, index))).not.toContain("thinking");
    expect(server.requests()).toHaveLength(3);
  });
});
