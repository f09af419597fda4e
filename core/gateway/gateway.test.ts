import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import * as grpc from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DaemonService } from "../../proto/gen/clawd/v1/admin_pb.ts";
import { FailureCode, FailureSchema } from "../../proto/gen/clawd/v1/failure_pb.ts";
import {
  ListSessionsRequestSchema,
  ListSessionsResponseSchema,
  SessionService,
} from "../../proto/gen/clawd/v1/session_pb.ts";
import { Health, HealthCheckResponse_ServingStatus as Serving } from "../../proto/gen/grpc/health/v1/health_pb.ts";
import { onlyProvider, scriptedProvider } from "../../tests/kit/scripted-provider.ts";
import type { DaemonAdmin } from "../domain/admin.ts";
import { NO_HOOKS } from "../domain/hook.ts";
import { openJournal } from "../journal/jsonl-journal.ts";
import { sessionRegistry } from "../session/session-registry.ts";
import { DEFAULT_LIMITS } from "../session/turn/turn-context.ts";
import type { Admin } from "./admin-services.ts";
import { openGateway } from "./gateway.ts";

const run = promisify(execFile);
const TOKEN = "the-token";
let folder = "";
let socket = "";
let port = "";
let close = async () => {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "clawd-gateway-"));
  socket = join(folder, "d.sock");
  const journal = await openJournal({ dir: join(folder, "sessions"), now: () => 1 });
  if (!journal.ok) throw new Error(journal.failure.message);
  let ids = 0;
  const sessions = sessionRegistry(journal.value, {
    providers: onlyProvider(scriptedProvider([{ text: "hello" }])),
    tools: () => [],
    commands: () => [],
    gates: [],
    hooks: { hears: async () => false, run: async () => NO_HOOKS, forget() {} },
    recall: undefined,
    profile: undefined,
    toolFilter: undefined,
    record: async () => ({ ok: true, value: undefined }),
    limits: DEFAULT_LIMITS,
    complain: (cause) => console.error(cause),
    now: () => 1,
    newId(kind) {
      ids += 1;
      return `${kind}-${ids}`;
    },
  });
  const daemon: DaemonAdmin = {
    status: async () => ({
      ...{ pid: 7, version: "1", nodeVersion: "v24", home: folder, socket, tcpAddress: "", provider: "scripted/one" },
      ...{ sandbox: { level: "none", detail: "" }, startedAtMs: 1, problems: [] },
    }),
    doctor: async () => [],
    shutdown: () => {},
    staleVariables: (digests) => [...digests.keys()],
  };
  // Only the doors that these tests walk through; the rooms behind the others have tests of their own.
  const admin = { daemon, plugins: { list: () => [] }, hooks: { list: async () => [] } } as unknown as Admin;
  const opened = await openGateway({ socket, tcp: { port: 0, token: TOKEN } }, sessions, admin);
  if (!opened.ok) throw new Error(opened.failure.message);
  port = opened.value.tcpAddress;
  close = async () => {
    await sessions.close();
    await opened.value.close();
    await journal.value.close();
    await rm(folder, { recursive: true, force: true });
  };
});
afterAll(() => close());

const nodeOptions = () => ({ createConnection: () => connect(socket) });
const transports = {
  "Connect over HTTP/1.1": () =>
    createConnectTransport({ baseUrl: "http://clawd", httpVersion: "1.1", nodeOptions: { socketPath: socket } }),
  "Connect over HTTP/2": () =>
    createConnectTransport({ baseUrl: "http://clawd", httpVersion: "2", nodeOptions: nodeOptions() }),
  gRPC: () => createGrpcTransport({ baseUrl: "http://clawd", nodeOptions: nodeOptions() }),
  "gRPC-Web over HTTP/1.1": () =>
    createGrpcWebTransport({ baseUrl: "http://clawd", httpVersion: "1.1", nodeOptions: { socketPath: socket } }),
};

test.each(Object.entries(transports))(
  "%s opens a session, streams a turn and reports a failure",
  async (_name, transport) => {
    const client = createClient(SessionService, transport());
    const { sessionId } = await client.openSession({ workspace: folder });
    const heard: string[] = [];
    const stop = new AbortController();
    for await (const { news } of client.subscribe({ sessionId, follow: true }, { signal: stop.signal })) {
      if (news.case === "caughtUp") await client.say({ sessionId, text: "hi" });
      if (news.case === "event") heard.push(news.value.body.case ?? "");
      if (news.case === "event" && news.value.body.case === "turnEnded") break;
    }
    stop.abort();
    expect(heard.slice(0, 3)).toEqual(["sessionOpened", "userSpoke", "turnStarted"]);

    const failed = await client.say({ sessionId: "nobody", text: "hi" }).catch((error) => error);
    expect(failed).toBeInstanceOf(ConnectError);
    expect(failed.code).toBe(Code.NotFound);
    expect(failed.findDetails(FailureSchema)[0]).toMatchObject({
      code: FailureCode.NOT_FOUND,
      hint: expect.stringContaining("claw"),
    });
  },
);

test("a plain gRPC client of another make is served", async () => {
  const client = new grpc.Client(`unix:${socket}`, grpc.credentials.createInsecure());
  const answer = await new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      "/clawd.v1.SessionService/ListSessions",
      (value: Uint8Array) => Buffer.from(value),
      (bytes: Buffer) => fromBinary(ListSessionsResponseSchema, bytes),
      toBinary(ListSessionsRequestSchema, { $typeName: "clawd.v1.ListSessionsRequest", limit: 5 }),
      (error, value) => (error ? reject(error) : resolve(value)),
    );
  });
  client.close();
  expect(answer).toMatchObject({ sessions: expect.any(Array) });
});

test("gRPC health answers for the daemon and for each service", async () => {
  const client = createClient(Health, transports.gRPC());
  expect((await client.check({ service: "" })).status).toBe(Serving.SERVING);
  expect((await client.check({ service: "clawd.v1.SessionService" })).status).toBe(Serving.SERVING);
  await expect(client.check({ service: "nobody" })).rejects.toMatchObject({ code: Code.NotFound });
});

test("buf curl finds its way by reflection alone", async () => {
  const buf = ["curl", "--protocol", "grpc", "--http2-prior-knowledge", "--unix-socket", socket];
  const env = { ...process.env, BUF_CACHE_DIR: folder };
  const called = await run("buf", [...buf, "http://clawd/clawd.v1.DaemonService/Status"], { env });
  expect(JSON.parse(called.stdout)).toMatchObject({ pid: 7, provider: "scripted/one" });
  const listed = await run("buf", [...buf, "--list-methods", "http://clawd"], { env });
  expect(listed.stdout).toContain("clawd.v1.SessionService/Say");
});

test("the port asks for its token, in every way of asking", async () => {
  const bare = createClient(DaemonService, createConnectTransport({ baseUrl: port, httpVersion: "1.1" }));
  await expect(bare.status({})).rejects.toMatchObject({ code: Code.Unauthenticated });
  await expect(bare.status({}, { headers: { authorization: "Bearer the-toke" } })).rejects.toMatchObject({
    code: Code.Unauthenticated,
  });
  expect(await bare.status({}, { headers: { authorization: `Bearer ${TOKEN}` } })).toMatchObject({ pid: 7 });
  const grpcClient = createClient(DaemonService, createGrpcTransport({ baseUrl: port }));
  await expect(grpcClient.status({})).rejects.toMatchObject({ code: Code.Unauthenticated });
});

test("garbage on the socket closes that connection and no other", async () => {
  for (const garbage of ["PR", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", "\0\0\0\0", "GET", "x".repeat(100_000)]) {
    const hostile = connect(socket);
    hostile.on("error", () => {});
    await new Promise((resolve) => hostile.write(garbage, resolve));
    hostile.destroy();
  }
  const client = createClient(DaemonService, transports.gRPC());
  expect(await client.status({})).toMatchObject({ pid: 7 });
});

test("a message beyond the limit is refused, and the door stays open", async () => {
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const path = "/clawd.v1.SessionService/Say";
    const headers = { "content-type": "application/json" };
    const asking = request({ socketPath: socket, path, method: "POST", headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asking.on("error", reject);
    asking.end(JSON.stringify({ sessionId: "x", text: "y".repeat(9 * 1024 * 1024) }));
  });
  expect(status).toBe(429);
  expect(await createClient(DaemonService, transports.gRPC()).status({})).toMatchObject({ pid: 7 });
});

test("an event larger than any request is still heard: a journal may hold lines of 16 MiB", async () => {
  const client = createClient(SessionService, transports.gRPC());
  const { sessionId } = await client.openSession({ workspace: folder });
  // As a person would copy a journal here: the daemon has not looked at this one since it was made.
  const copied = await openJournal({ dir: join(folder, "sessions"), now: () => 1 });
  if (!copied.ok) throw new Error(copied.failure.message);
  const text = "z".repeat(9 * 1024 * 1024);
  const written = await copied.value.append(sessionId, 1, [{ case: "userSpoke", value: { messageId: "m", text } }]);
  expect(written).toMatchObject({ ok: true });
  await copied.value.close();
  const longest = async () => {
    let most = 0;
    for await (const { news } of client.subscribe({ sessionId })) {
      if (news.case === "event" && news.value.body.case === "userSpoke") most = news.value.body.value.text.length;
    }
    return most;
  };
  // The first look finds that the file is another one than the daemon knew.
  await longest().catch(() => {});
  expect(await longest()).toBe(text.length);
});
