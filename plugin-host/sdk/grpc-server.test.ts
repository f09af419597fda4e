// Our server and our client of gRPC, each also with the other side of the library that is not ours.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code, ConnectError, createClient, type ServiceImpl, type Transport } from "@connectrpc/connect";
import {
  connectNodeAdapter,
  createGrpcTransport as createLibraryTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HookService, PluginService } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import { createGrpcTransport } from "../link/grpc-transport.ts";
import { routeGrpc } from "./grpc-server.ts";

const LIMIT_BYTES = 64 * 1024;
const TOKEN = "open sesame";
const PIECE = Buffer.alloc(16 * 1024, "x");

/** What the server saw. */
let seen: { aborts: number; poured: number };

const plugin: Partial<ServiceImpl<typeof PluginService>> = {
  configure: ({ config }) => ({ problem: String(config?.say ?? "") }),
  drain: () => {
    throw new ConnectError("größer als möglich", Code.FailedPrecondition);
  },
  async *callTool({ tool, args }, { signal }) {
    signal.addEventListener("abort", () => seen.aborts++);
    if (tool === "fail") throw new ConnectError("it failed", Code.NotFound);
    if (tool === "huge") yield { news: { case: "progress", value: "x".repeat(LIMIT_BYTES) } };
    for (let left = tool === "pour" ? 2000 : 0; left > 0 && !signal.aborted; left -= 1) {
      yield { news: { case: "output", value: { data: PIECE } } };
      seen.poured++;
    }
    if (tool === "hang") await new Promise((stop) => signal.addEventListener("abort", stop));
    if (tool === "half") {
      yield { news: { case: "progress", value: "half" } };
      throw new ConnectError("the other half is missing", Code.DataLoss);
    }
    yield { news: { case: "result", value: { text: String(args?.say) } } };
  },
};
const hooks: Partial<ServiceImpl<typeof HookService>> = {
  async *streamHooks(requests) {
    for await (const { kind } of requests) if (kind.case === "event") yield { id: kind.value.id };
  },
};

let folder: string;
let server: Http2Server;
let sessions: Set<ServerHttp2Session>;
let manager: Http2SessionManager;
beforeEach(() => {
  seen = { aborts: 0, poured: 0 };
  sessions = new Set();
  folder = mkdtempSync(join(tmpdir(), "grpc-"));
  manager = new Http2SessionManager("http://plugin", {}, { createConnection: () => connect(join(folder, "p.sock")) });
});
afterEach(async () => {
  manager.abort();
  for (const session of sessions) session.destroy();
  await new Promise((closed) => server.close(closed));
  rmSync(folder, { recursive: true });
});

async function listen(made: Http2Server): Promise<void> {
  server = made;
  server.on("session", (session) => sessions.add(session));
  server.listen(join(folder, "p.sock"));
  await once(server, "listening");
}

const SERVERS = {
  "our server": () => {
    const made = createServer();
    const routes = routeGrpc(made, TOKEN, LIMIT_BYTES, new AbortController().signal);
    routes.service(PluginService, plugin);
    routes.service(HookService, hooks);
    return made;
  },
  "the library's server": () =>
    createServer(
      connectNodeAdapter({
        ...{ acceptCompression: [], readMaxBytes: LIMIT_BYTES, writeMaxBytes: LIMIT_BYTES },
        routes: (router) => router.service(PluginService, plugin).service(HookService, hooks),
      }),
    ),
};
const CLIENTS = {
  "our client": (token: string): Transport =>
    createGrpcTransport({ sessions: manager, token, limitBytes: LIMIT_BYTES }),
  "the library's client": (token: string): Transport =>
    createLibraryTransport({
      ...{ baseUrl: "http://plugin", sessionManager: manager, acceptCompression: [] },
      ...{ readMaxBytes: LIMIT_BYTES, writeMaxBytes: LIMIT_BYTES },
      interceptors: [
        (next) => (request) => {
          request.header.set("authorization", `Bearer ${token}`);
          return next(request);
        },
      ],
    }),
};

async function collect<T>(messages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const message of messages) all.push(message);
  return all;
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (cause) => ConnectError.from(cause).code,
  );

describe.each([
  ["our client", "our server"],
  ["our client", "the library's server"],
  ["the library's client", "our server"],
] as const)("%s to %s", (clientName, serverName) => {
  const dial = async (token = TOKEN) => {
    await listen(SERVERS[serverName]());
    const transport = CLIENTS[clientName](token);
    return { plugin: createClient(PluginService, transport), hooks: createClient(HookService, transport) };
  };

  test("one message gets one", async () => {
    const { plugin } = await dial();
    expect(await plugin.configure({ config: { say: "ja, 日本" } })).toMatchObject({ problem: "ja, 日本" });
  });

  test("a stream comes whole and in order", async () => {
    const { plugin } = await dial();
    const news = await collect(plugin.callTool({ tool: "pour", args: { say: "done" } }));
    expect(news).toHaveLength(2001);
    expect(news.at(-1)).toMatchObject({ news: { value: { text: "done" } } });
  });

  test("both sides talk at once", async () => {
    const { hooks } = await dial();
    const answered: number[] = [];
    async function* events() {
      for (let id = 1; id <= 50; id += 1) yield { kind: { case: "event" as const, value: { id } } };
    }
    for await (const { id } of hooks.streamHooks(events())) answered.push(id);
    expect(answered).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  });

  test("failures keep their code and words, before and after the first message", async () => {
    const { plugin } = await dial();
    const failed = ConnectError.from(await plugin.drain({}).catch((cause: unknown) => cause));
    expect(failed).toMatchObject({ code: Code.FailedPrecondition, rawMessage: "größer als möglich" });
    expect(await codeOf(collect(plugin.callTool({ tool: "fail" })))).toBe(Code.NotFound);
    const half = plugin.callTool({ tool: "half" })[Symbol.asyncIterator]();
    expect(await half.next()).toMatchObject({ value: { news: { value: "half" } } });
    expect(await codeOf(half.next())).toBe(Code.DataLoss);
    expect(await codeOf(plugin.shutdown({}))).toBe(Code.Unimplemented);
  });

  test("a cancel reaches the other side", async () => {
    const { plugin } = await dial();
    const cancel = new AbortController();
    const news = plugin.callTool({ tool: "hang" }, { signal: cancel.signal })[Symbol.asyncIterator]().next();
    await plugin.configure({});
    cancel.abort();
    expect(await codeOf(news)).toBe(Code.Canceled);
    await expect.poll(() => seen.aborts).toBe(1);
    expect(await codeOf(plugin.configure({}, { signal: cancel.signal }))).toBe(Code.Canceled);
  });

  test("a deadline ends the call at both sides", async () => {
    const { plugin } = await dial();
    const late = collect(plugin.callTool({ tool: "hang" }, { timeoutMs: 50 }));
    expect(await codeOf(late)).toBe(Code.DeadlineExceeded);
    await expect.poll(() => seen.aborts).toBe(1);
  });

  test("a message beyond the limit fails alone, whoever sends it", async () => {
    const { plugin } = await dial();
    const tooMuch = { config: { say: "x".repeat(LIMIT_BYTES) } };
    expect(await codeOf(plugin.configure(tooMuch))).toBe(Code.ResourceExhausted);
    expect(await codeOf(collect(plugin.callTool({ tool: "huge" })))).toBe(Code.ResourceExhausted);
    expect(await plugin.configure({ config: { say: "well" } })).toMatchObject({ problem: "well" });
  });

  test("a reader who stands still makes the writer stand still", async () => {
    const { plugin } = await dial();
    const cancel = new AbortController();
    const news = plugin.callTool({ tool: "pour" }, { signal: cancel.signal })[Symbol.asyncIterator]();
    await news.next();
    // As long as the writer writes, it gets further between two other calls.
    let before = -1;
    while (seen.poured !== before) {
      before = seen.poured;
      for (let call = 0; call < 20; call += 1) await plugin.configure({});
    }
    expect(seen.poured).toBeLessThan(1000);
    cancel.abort();
  });

  test("a call that its connection dies under is told so", async () => {
    const { plugin } = await dial();
    const news = plugin.callTool({ tool: "hang" })[Symbol.asyncIterator]().next();
    await plugin.configure({});
    for (const session of sessions) session.destroy();
    expect(await codeOf(news)).toBeDefined();
    expect(await plugin.configure({ config: { say: "again" } })).toMatchObject({ problem: "again" });
  });
});

test.each(["our client", "the library's client"] as const)("a stranger is turned away: %s", async (name) => {
  await listen(SERVERS["our server"]());
  const { configure, callTool } = createClient(PluginService, CLIENTS[name]("a guess"));
  expect(await codeOf(configure({}))).toBe(Code.Unauthenticated);
  expect(await codeOf(collect(callTool({ tool: "pour" })))).toBe(Code.Unauthenticated);
  expect(seen.poured).toBe(0);
});
