import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { connect, createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FailureCode, FailureSchema } from "../proto/gen/clawd/v1/failure_pb.ts";
import { SessionService } from "../proto/gen/clawd/v1/session_pb.ts";
import { type Connection, openConnection } from "./connection.ts";
import { reachDaemon } from "./dial.ts";

// The other end is the reference implementation of the Connect protocol.

let folder: string;
let path: string;
let close: (() => Promise<void>)[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "claw-connection-"));
  path = join(folder, "s.sock");
  close = [];
});
afterEach(async () => {
  for (const one of close.reverse()) await one();
  await rm(folder, { recursive: true, force: true });
});

async function serve(routes: (router: ConnectRouter) => void): Promise<Server> {
  const server = createServer(connectNodeAdapter({ routes, acceptCompression: [] }));
  await new Promise<void>((listening) => server.listen(path, listening));
  close.push(
    () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  );
  return server;
}

async function dial(): Promise<Connection> {
  const socket = connect(path);
  await new Promise((connected) => socket.once("connect", connected));
  const connection = openConnection(socket, () => connect(path));
  close.push(async () => connection.close());
  return connection;
}

test("an answer, a refusal with its hint, and a plain error come back as what they are", async () => {
  await serve((router) =>
    router.service(SessionService, {
      openSession: ({ workspace }) => ({ sessionId: `of ${workspace}` }),
      deleteSession() {
        const value = { code: FailureCode.NOT_FOUND, message: "there is no session x", hint: "claw sessions list" };
        throw new ConnectError("short", Code.NotFound, undefined, [{ desc: FailureSchema, value }]);
      },
      forkSession() {
        const value = { code: FailureCode.EXHAUSTED, message: "the disk is full", hint: "" };
        throw new ConnectError("short", Code.ResourceExhausted, undefined, [{ desc: FailureSchema, value }]);
      },
    }),
  );
  const daemon = await dial();
  const opened = await daemon.call(SessionService.method.openSession, { workspace: "/wörk 🎉" });
  expect(opened.ok && opened.value.sessionId).toBe("of /wörk 🎉");
  expect(await daemon.call(SessionService.method.deleteSession, { sessionId: "x" })).toEqual({
    ok: false,
    trouble: { kind: "refused", message: "there is no session x", hint: "claw sessions list" },
  });
  expect(await daemon.call(SessionService.method.forkSession, {})).toEqual({
    ok: false,
    trouble: { kind: "failed", message: "the disk is full" },
  });
  expect(await daemon.call(SessionService.method.say, {})).toMatchObject({ ok: false, trouble: { kind: "refused" } });
});

test("a stream keeps its order, and its error comes last", async () => {
  await serve((router) =>
    router.service(SessionService, {
      async *subscribe() {
        for (let seq = 1; seq <= 1_000; seq++) yield { news: { case: "event", value: { seq } } };
        throw new ConnectError("gone", Code.NotFound);
      },
    }),
  );
  const daemon = await dial();
  const seqs: number[] = [];
  const troubles: string[] = [];
  for await (const item of daemon.stream(SessionService.method.subscribe, {}, new AbortController().signal)) {
    if (!item.ok) troubles.push(`${item.trouble.kind}: ${item.trouble.message}`);
    else if (item.value.news.case === "event") seqs.push(item.value.news.value.seq);
  }
  expect(seqs).toEqual(Array.from({ length: 1_000 }, (_, at) => at + 1));
  expect(troubles).toEqual(["refused: gone"]);
});

test("calls go on beside a stream, and an aborted stream just ends and is seen to end by the daemon", async () => {
  const left = Promise.withResolvers<void>();
  await serve((router) =>
    router.service(SessionService, {
      openSession: () => ({ sessionId: "s" }),
      async *subscribe(_request, { signal }) {
        yield { news: { case: "caughtUp", value: { seq: 7 } } };
        await new Promise((aborted) => signal.addEventListener("abort", aborted));
        left.resolve();
      },
    }),
  );
  const daemon = await dial();
  const end = new AbortController();
  let items = 0;
  for await (const item of daemon.stream(SessionService.method.subscribe, {}, end.signal)) {
    items++;
    expect(item.ok).toBe(true);
    expect((await daemon.call(SessionService.method.openSession, {})).ok).toBe(true);
    end.abort();
  }
  expect(items).toBe(1);
  await left.promise;
});

test("a daemon that dies in the middle of a stream or a call is unreachable", async () => {
  const server = await serve((router) =>
    router.service(SessionService, {
      async *subscribe(_request, { signal }) {
        yield { news: { case: "caughtUp", value: { seq: 7 } } };
        await new Promise((aborted) => signal.addEventListener("abort", aborted));
      },
      openSession: (_request, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", reject)),
    }),
  );
  const daemon = await dial();
  const kinds: string[] = [];
  for await (const item of daemon.stream(SessionService.method.subscribe, {}, new AbortController().signal)) {
    kinds.push(item.ok ? "news" : item.trouble.kind);
    if (!item.ok) break;
    const waiting = daemon.call(SessionService.method.openSession, {});
    server.once("request", () => server.closeAllConnections());
    expect(await waiting).toMatchObject({ ok: false, trouble: { kind: "unreachable" } });
  }
  expect(kinds).toEqual(["news", "unreachable"]);
});

test("a stranger that answers with junk is told apart from a daemon", async () => {
  const stranger = createSocketServer((socket) => {
    socket.on("error", () => {});
    socket.resume();
    socket.end("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n\u0000\u0001\u0002\u0003");
  });
  await new Promise<void>((listening) => stranger.listen(path, listening));
  close.push(() => new Promise((closed) => stranger.close(() => closed())));
  const daemon = await dial();
  expect(await daemon.call(SessionService.method.openSession, {})).toMatchObject({ ok: false });
  for await (const item of daemon.stream(SessionService.method.subscribe, {}, new AbortController().signal)) {
    expect(item).toMatchObject({ ok: false, trouble: { kind: "unreachable" } });
  }
});

test("an answer that never comes ends at its limit", async () => {
  await serve((router) => router.service(SessionService, { openSession: () => new Promise(() => {}) }));
  const daemon = await dial();
  const answer = await daemon.call(SessionService.method.openSession, {}, { limitMs: 50 });
  expect(answer).toMatchObject({ ok: false, trouble: { kind: "failed" } });
});

test("a socket that nobody listens on is unreachable", async () => {
  const plan = { home: folder, socketPath: path, nodeBinary: process.execPath, daemonFile: "", env: {} };
  expect(await reachDaemon(plan)).toMatchObject({ ok: false, trouble: { kind: "unreachable" } });
});
