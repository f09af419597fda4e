import { Server } from "@modelcontextprotocol/server";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type HttpSessions, openHttpSessions, SESSION_HEADER } from "./http-sessions.ts";
import type { Visitor } from "./visitor.ts";

const MINUTE_MS = 60_000;
/** A request that asked for nothing. */
const ANSWERED = new Request("http://127.0.0.1/mcp");
let nowMs = 0;
let ids = 0;
let visitorsGone = 0;
let sessions: HttpSessions;

/** Nothing is done here for clients; that they are let go is what counts. */
function visitor(): Visitor {
  const none = () => undefined;
  return {
    session: async () => ({ ok: true, value: "session-1" }),
    ...{ claim: () => true, hold: none, take: none, isFull: () => false, began: () => () => {} },
    close: () => {
      visitorsGone += 1;
    },
  };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  [nowMs, ids, visitorsGone] = [0, 0, 0];
  sessions = openHttpSessions({
    bodyLimitBytes: 100_000,
    now: () => nowMs,
    newId: () => {
      ids += 1;
      return `id-${ids}`;
    },
    openVisitor: visitor,
    serverFor: () => new Server({ name: "s", version: "1" }, { capabilities: {} }),
  });
});
afterEach(async () => {
  await sessions.close();
  vi.useRealTimers();
});

function post(body: object, sessionId?: string): Request {
  return new Request("http://127.0.0.1/mcp", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(sessionId === undefined ? {} : { [SESSION_HEADER]: sessionId }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...body }),
  });
}

/** Begins a session; its request stays open until it is told that it was answered. */
async function begin(): Promise<{ readonly status: number; readonly id: string }> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
  const answer = await sessions.handle(post({ id: 1, method: "initialize", params }));
  await answer.text();
  return { status: answer.status, id: answer.headers.get(SESSION_HEADER) ?? "" };
}
async function beginIdle(): Promise<string> {
  const { id } = await begin();
  sessions.answered(id, ANSWERED);
  return id;
}
async function ping(id: string): Promise<number> {
  const asked = post({ id: 2, method: "ping" }, id);
  const answer = await sessions.handle(asked);
  await answer.text();
  sessions.answered(id, asked);
  return answer.status;
}
/** Lets time pass, with all that is looked at meanwhile. */
function pass(ms: number): void {
  nowMs += ms;
  vi.advanceTimersByTime(ms);
}

test("a client that was not heard of for half an hour is let go with what it began, and one that was is not", async () => {
  const [quiet, lively] = [await beginIdle(), await beginIdle()];
  pass(20 * MINUTE_MS);
  expect(await ping(lively)).toBe(200);
  pass(12 * MINUTE_MS);
  expect(await ping(quiet)).toBe(404);
  expect(await ping(lively)).toBe(200);
  expect(visitorsGone).toBe(1);
});

test("a client that waits for an answer is not idle, however long that takes", async () => {
  const { id } = await begin();
  pass(120 * MINUTE_MS);
  sessions.answered(id, ANSWERED);
  expect(await ping(id)).toBe(200);
});

test("the 65th client takes the place of the one that was idle longest; where all are at work it is told to come later", async () => {
  const first = await beginIdle();
  for (let more = 1; more < 64; more += 1) {
    nowMs += 1;
    await begin();
  }
  const late = await begin();
  expect(late.status).toBe(200);
  expect(await ping(first)).toBe(404);
  expect((await begin()).status).toBe(503);
  sessions.answered(late.id, ANSWERED);
  expect((await begin()).status).toBe(200);
  expect(visitorsGone).toBe(2);
});

test("what begins without an introduction leaves nothing behind", async () => {
  const answer = await sessions.handle(post({ id: 1, method: "ping" }));
  expect(answer.status).toBe(400);
  expect(visitorsGone).toBe(1);
});

test("a request under the id of one that is under way is refused, and may come when that has been answered", async () => {
  const { id } = await begin();
  const first = post({ id: 7, method: "ping" }, id);
  expect((await sessions.handle(first)).status).toBe(200);
  expect((await sessions.handle(post({ id: 7, method: "ping" }, id))).status).toBe(400);
  sessions.answered(id, first);
  expect((await sessions.handle(post({ id: 7, method: "ping" }, id))).status).toBe(200);
});
