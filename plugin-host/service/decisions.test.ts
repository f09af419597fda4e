import { expect, test } from "vitest";
import { ok } from "../../core/domain/failure.ts";
import type { PermissionDecision } from "../../core/domain/permission-decision.ts";
import { openTokenBucket } from "../../core/domain/token-bucket.ts";
import { openDecisions } from "./decisions.ts";
import { liveCalls } from "./live-calls.ts";

function room() {
  let nowMs = 0;
  const written: PermissionDecision[] = [];
  const record = async (decision: PermissionDecision) => {
    written.push(decision);
    return ok(undefined);
  };
  const decisions = openDecisions({
    plugin: "p",
    filesSha256: "ab",
    granted: { allow: [{ kind: "tool", name: "read" }], deny: [] },
    record,
    now: () => nowMs,
  });
  return {
    decisions,
    written,
    record,
    pass(ms: number) {
      nowMs += ms;
    },
  };
}

test("a connection that was denied is written down, and a flood of them is counted", () => {
  const { decisions, written } = room();
  decisions.denied({ kind: "net", host: "evil.example", port: 443 }, "net=evil.example:443 is not granted");
  expect(written).toMatchObject([
    { principal: "plugin:p", sourceHash: "ab", permission: "net=evil.example:443", allowed: false, leftOut: 0 },
  ]);
  for (let count = 1; count < 1000; count++) decisions.denied({ kind: "net", host: "evil.example", port: 1 }, "no");
  expect(written).toHaveLength(200);
  decisions.close();
  expect(written.reduce((sum, { leftOut }) => sum + leftOut + 1, 0)).toBe(1000);
});

test("what is allowed is refused rather than left out when there is too much of it", async () => {
  const { decisions, written, record, pass } = room();
  const judge = () => decisions.judge({ kind: "tool", name: "read" }, record);
  for (let count = 0; count < 200; count++) expect(await judge()).toMatchObject({ ok: true });
  expect(await judge()).toMatchObject({ failure: { code: "exhausted" } });
  expect(written).toHaveLength(200);
  pass(1000);
  expect(await judge()).toMatchObject({ ok: true });
});

test("names that are no names of tools are denied, and written harmless", async () => {
  const { decisions, written, record } = room();
  for (const name of ["read,shell", "*", "re\u202ead", "read\n", "Read", "../read"])
    expect(await decisions.judge({ kind: "tool", name }, record)).toMatchObject({ failure: { code: "denied" } });
  expect(written.map(({ permission }) => permission).join("")).not.toMatch(/[\u202e\n]/);
});

test("a budget fills with time up to its most, and a clock that is set back takes nothing away", () => {
  let nowMs = 10_000;
  const budget = openTokenBucket(10, 5, () => nowMs);
  expect([budget.take(10), budget.take(1)]).toEqual([true, false]);
  nowMs -= 5_000;
  expect(budget.take(1)).toBe(false);
  nowMs += 1_000;
  expect([budget.take(5), budget.take(1)]).toEqual([true, false]);
  nowMs += 3_600_000;
  expect([budget.take(11), budget.take(10)]).toEqual([false, true]);
});

test("a live call is found until it is closed, and an id that two have names neither", () => {
  const calls = liveCalls();
  const call = { callId: "c", sessionId: "s", workspace: "/", progress: () => {}, desk: {} as never };
  const closeFirst = calls.open(call);
  expect(calls.find("c")).toMatchObject({ sessionId: "s" });
  expect([calls.freeId("c"), calls.freeId("d")]).toEqual(["c~2", "d"]);
  const closeSecond = calls.open({ ...call, sessionId: "other" });
  expect(calls.find("c")).toBeUndefined();
  closeFirst();
  closeFirst();
  expect(calls.find("c")).toMatchObject({ sessionId: "other" });
  closeSecond();
  expect([calls.find("c"), calls.ids()]).toEqual([undefined, []]);
});
