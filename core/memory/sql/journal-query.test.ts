import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toJson } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  ApprovalScope,
  EventSchema,
  HookVerdict,
  PermissionSource,
  StopReason,
  ToolCallStatus,
  TurnOutcome,
} from "../../../proto/gen/clawd/v1/event_pb.ts";
import type { Table } from "../../domain/admin.ts";
import type { EventBody } from "../../domain/event.ts";
import { journalQuery } from "./journal-query.ts";

const QUERY_FILE = join(import.meta.dirname, "query-process.ts");
const START_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const never = new AbortController().signal;

let home = "";
let dir = "";
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "clawd-query-"));
  // A pattern's characters in the path must not be taken for one.
  dir = join(home, "jour[n]als * 'x'");
  await mkdir(dir);
});
afterEach(() => rm(home, { recursive: true, force: true }));

function ask(sql: string, timeLimitMs?: number) {
  const query = journalQuery({
    journalDir: dir,
    nodeBinary: process.execPath,
    queryFile: QUERY_FILE,
    ...(timeLimitMs === undefined ? {} : { timeLimitMs }),
  });
  return query.query(sql, never);
}

async function table(sql: string): Promise<Table> {
  const answered = await ask(sql);
  if (!answered.ok) throw new Error(`${answered.failure.message}\n${answered.failure.hint ?? ""}`);
  return answered.value;
}

function lines(bodies: readonly EventBody[]): string {
  return bodies
    .map((body, index) => {
      const event = create(EventSchema, { seq: index + 1, atMs: START_MS + index * 1_000, hash: "00", body });
      return `${JSON.stringify(toJson(EventSchema, event, { alwaysEmitImplicit: true }))}\n`;
    })
    .join("");
}

const turn = { turnId: "t1" };
const RUN: readonly EventBody[] = [
  { case: "sessionOpened", value: { sessionId: "s1", workspace: "/w", model: "rehearsal/x" } },
  { case: "userSpoke", value: { messageId: "m1", text: "first line\nsecond" } },
  { case: "turnStarted", value: { ...turn, model: "rehearsal/x" } },
  {
    case: "blockEnded",
    value: {
      ...turn,
      step: 1,
      content: { kind: { case: "toolCall", value: { callId: "c2", tool: "shell", args: { cmd: "rm -rf /" } } } },
    },
  },
  {
    case: "replyEnded",
    value: { ...turn, step: 1, stop: StopReason.CALLS, usage: { inputTokens: 10, outputTokens: 3 } },
  },
  {
    case: "hookRan",
    value: {
      ...turn,
      callId: "c2",
      point: "tool.before",
      hook: "guard",
      verdict: HookVerdict.BLOCK,
      because: "no",
      ms: 1.5,
      ran: true,
    },
  },
  {
    case: "approvalAsked",
    value: { approvalId: "a1", ...turn, callId: "c1", tool: "write", args: { path: "x" }, because: "asks" },
  },
  { case: "approvalAnswered", value: { approvalId: "a1", allowed: true, scope: ApprovalScope.ONCE } },
  { case: "toolCallStarted", value: { ...turn, callId: "c1", tool: "write", args: { path: "x" }, attempt: 1 } },
  {
    case: "toolCallEnded",
    value: { ...turn, callId: "c2", tool: "shell", status: ToolCallStatus.DENIED, failure: { message: "blocked" } },
  },
  {
    case: "toolCallEnded",
    value: { ...turn, callId: "c1", tool: "write", status: ToolCallStatus.DONE, output: "ok", ms: 2.25 },
  },
  { case: "toolCallStarted", value: { ...turn, callId: "c3", tool: "read", args: {}, attempt: 1 } },
  { case: "turnEnded", value: { ...turn, outcome: TurnOutcome.DONE } },
];

test("the views tell a run in short readable words", async () => {
  await writeFile(join(dir, "s1.jsonl"), lines(RUN));
  await writeFile(join(dir, "empty.jsonl"), "");
  await writeFile(
    join(dir, "memory.jsonl"),
    lines([
      { case: "memoryRemembered", value: { memoryId: "n1", text: "tea", author: "owner", sessionId: "" } },
      { case: "memoryForgotten", value: { memoryId: "n1" } },
    ]),
  );
  const all = await table(`SELECT
    (SELECT list(c ORDER BY call_id) FROM (SELECT call_id, tool, status, ms, args, output, failure FROM calls) c) AS calls,
    (SELECT list(t) FROM (SELECT turn_id, model, outcome, ms, steps, calls, input_tokens, output_tokens FROM turns) t) AS turns,
    (SELECT list(h) FROM (SELECT point, hook, verdict, because, ms, ran FROM hooks) h) AS hooks,
    (SELECT list(a) FROM (SELECT approval_id, call_id, tool, outcome, scope FROM approvals) a) AS approvals,
    (SELECT list(s) FROM (SELECT session, title, workspace, opened_at, events, turns, calls FROM sessions) s) AS sessions,
    (SELECT list(n) FROM (SELECT memory_id, text, author, forgotten FROM notes) n) AS notes`);
  expect(all.columns).toEqual(["calls", "turns", "hooks", "approvals", "sessions", "notes"]);
  expect(all.rows).toEqual([
    [
      [
        { call_id: "c1", tool: "write", status: "done", ms: 2.25, args: '{"path":"x"}', output: "ok", failure: null },
        {
          call_id: "c2",
          tool: "shell",
          status: "denied",
          ms: 0,
          args: '{"cmd":"rm -rf /"}',
          output: "",
          failure: "blocked",
        },
        { call_id: "c3", tool: "read", status: "running", ms: null, args: "{}", output: null, failure: null },
      ],
      [
        {
          turn_id: "t1",
          model: "rehearsal/x",
          outcome: "done",
          ms: 10_000,
          steps: 1,
          calls: 2,
          input_tokens: 10,
          output_tokens: 3,
        },
      ],
      [{ point: "tool.before", hook: "guard", verdict: "block", because: "no", ms: 1.5, ran: true }],
      [{ approval_id: "a1", call_id: "c1", tool: "write", outcome: "allowed", scope: "once" }],
      [
        {
          session: "s1",
          title: "first line",
          workspace: "/w",
          opened_at: "2026-01-02T03:04:05.678Z",
          events: 13,
          turns: 1,
          calls: 2,
        },
      ],
      [{ memory_id: "n1", text: "tea", author: "owner", forgotten: true }],
    ],
  ]);
});

test("decisions about permissions and their questions are rows, also those outside sessions", async () => {
  const asked = { approvalId: "a1", ...turn, callId: "c1", permission: "net=x.org:443", principal: "hook:guard" };
  const decided = {
    ...{ principal: "hook:guard", sourceHash: "ab", permission: "read=/x", resolved: "/x", allowed: true },
    ...{ source: PermissionSource.RULE, because: "read=/x", ms: 0.5, leftOut: 2 },
  };
  await writeFile(
    join(dir, "s1.jsonl"),
    lines([
      { case: "approvalAsked", value: asked },
      { case: "approvalAnswered", value: { approvalId: "a1", allowed: true, scope: ApprovalScope.ALWAYS } },
      { case: "permissionDecided", value: { ...decided, sessionId: "s1", turnId: "t1" } },
    ]),
  );
  const outside = {
    ...decided,
    principal: "script:/x.ts",
    allowed: false,
    source: PermissionSource.NOBODY,
    leftOut: 0,
  };
  await writeFile(join(dir, "hooks.jsonl"), lines([{ case: "permissionDecided", value: outside }]));
  const permissions = await table("SELECT * EXCLUDE (time, source_hash) FROM permissions ORDER BY principal");
  expect(permissions.columns).toEqual([
    ...["session", "turn_id", "principal", "permission", "resolved", "allowed", "source", "because", "ms", "left_out"],
  ]);
  expect(permissions.rows).toEqual([
    ["s1", "t1", "hook:guard", "read=/x", "/x", true, "rule", "read=/x", 0.5, 2],
    [null, null, "script:/x.ts", "read=/x", "/x", false, "nobody", "read=/x", 0.5, 0],
  ]);
  const approvals = await table("SELECT tool, permission, principal, outcome, scope FROM approvals");
  expect(approvals.rows).toEqual([["", "net=x.org:443", "hook:guard", "allowed", "always"]]);
  expect((await table("SELECT count(*) FROM sessions")).rows).toEqual([[0]]);
});

test("torn, broken, binary and oversized lines never break a query", async () => {
  const good = lines(RUN.slice(0, 2));
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  await writeFile(join(dir, "torn.jsonl"), `${good}{"seq":3,"atMs":17`);
  await writeFile(
    join(dir, "odd.jsonl"),
    Buffer.concat([Buffer.from("not json\n[1]\n7\n{}\n"), Buffer.from([0xff, 0, 0xfe, 10]), Buffer.from(good)]),
  );
  await writeFile(join(dir, "deep.jsonl"), `{"seq":1,"atMs":1e300,"userSpoke":{"text":${deep}}}\n${good}`);
  await writeFile(join(dir, "wide.jsonl"), `{"seq":1,"userSpoke":{"text":"${"z".repeat(40_000_000)}"}}\n${good}`);
  const counted = await table(
    "SELECT session, count(*) FILTER (time IS NOT NULL) FROM events GROUP BY ALL ORDER BY ALL",
  );
  expect(counted.rows).toEqual([
    ["deep", 2],
    ["odd", 2],
    ["torn", 2],
  ]);
  expect((await table("SELECT * FROM broken ORDER BY session")).rows).toEqual([
    ["odd", 5],
    ["torn", 1],
    ["wide", 1],
  ]);
});

test("values come back safe for JSON", async () => {
  const values = await table(
    "SELECT 9007199254740993::BIGINT, 12::BIGINT, sum(1), 1.25, 'nan'::DOUBLE, TIMESTAMP '2026-01-02 03:04:05', NULL, DATE '2026-01-02', [1, 2], {'a': true}, '\\xAA'::BLOB",
  );
  expect(values.rows).toEqual([
    [
      "9007199254740993",
      12,
      1,
      1.25,
      "NaN",
      "2026-01-02T03:04:05.000Z",
      null,
      "2026-01-02",
      [1, 2],
      { a: true },
      "\\xAA",
    ],
  ]);
});

test("more than 10,000 rows or 8 MiB are cut and say so", async () => {
  const many = await table("SELECT * FROM range(20000)");
  expect([many.rows.length, many.truncated]).toEqual([10_000, true]);
  const wide = await table("SELECT repeat('x', 1000000) FROM range(100)");
  expect([wide.rows.length, wide.truncated]).toEqual([8, true]);
  const exact = await table("SELECT * FROM range(10000)");
  expect([exact.rows.length, exact.truncated]).toEqual([10_000, false]);
});

test("nothing on the host can be read, written or changed", async () => {
  const marks = join(home, "marks");
  await mkdir(marks);
  const hostile = [
    "SELECT * FROM '/etc/passwd'",
    "SELECT (SELECT max(content) FROM read_text('/etc/passwd'))",
    `SELECT * FROM ENABLE_LOGGING(storage := 'file', storage_path := '${marks}/log')`,
    `COPY (SELECT 1) TO '${marks}/out.csv'`,
    `ATTACH '${marks}/x.db'`,
    "SELECT nothing FROM events",
  ];
  for (const sql of hostile) {
    const answer = await ask(sql);
    expect(answer.ok ? sql : answer.failure.code).toBe("invalid");
    expect(answer.ok ? sql : answer.failure.hint).toContain("calls(session");
  }
  expect(await readdir(marks)).toEqual([]);
});

test("a query that kills its engine, never ends or wants too much memory fails alone", async () => {
  const deep = "json_structure(repeat('[', 100000) || repeat(']', 100000))";
  const [died, late, large] = [
    await ask(`SELECT ${deep}`),
    await ask("SELECT count(*) FROM range(100000000000) a, range(1000000) b", 1_000),
    await ask("SELECT list(x) FROM range(1000000000) t(x)"),
  ];
  expect([died, late, large].map((answer) => (answer.ok ? "ok" : answer.failure.code))).toEqual([
    "unavailable",
    "timed_out",
    "exhausted",
  ]);
});

test("an aborted query ends at once, and a third at the same time is told to wait", async () => {
  const query = journalQuery({ journalDir: dir, nodeBinary: process.execPath, queryFile: QUERY_FILE });
  const stop = new AbortController();
  const endless = "SELECT count(*) FROM range(100000000000) a, range(1000000) b";
  const first = query.query(endless, stop.signal);
  const second = query.query(endless, stop.signal);
  const third = await query.query("SELECT 1", never);
  stop.abort();
  const codes = [await first, await second, third].map((answer) => (answer.ok ? "ok" : answer.failure.code));
  expect(codes).toEqual(["cancelled", "cancelled", "exhausted"]);
  expect((await query.query("SELECT 1", never)).ok).toBe(true);
});

test.skipIf(process.platform !== "linux")(
  "the query process dies with the one who asked, also on SIGKILL",
  async () => {
    const asker = spawn(process.execPath, [join(import.meta.dirname, "../fixtures/query-child.ts"), dir, QUERY_FILE], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(asker.stdout, "data");
    const [child = ""] = (await readFile(`/proc/${asker.pid}/task/${asker.pid}/children`, "utf8")).split(" ");
    expect(child).toMatch(/^\d+$/);
    asker.kill("SIGKILL");
    await once(asker, "exit");
    await vi.waitUntil(() => !existsSync(`/proc/${child}`), { timeout: 5_000 });
  },
);
