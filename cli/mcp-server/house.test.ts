import { expect, test } from "vitest";
import { DaemonService } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Connection } from "../connection.ts";
import { fail, ok, type Result } from "../trouble.ts";
import { openHouse } from "./house.ts";

const reachNone = async (): Promise<Result<Connection>> => fail("unreachable", "there is no daemon");

/** A line whose calls break off one by one, when the test says so. */
function openLine() {
  const waiting: (() => void)[] = [];
  let isClosed = false;
  const connection: Connection = {
    async call() {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return fail("unreachable", "the connection to the daemon broke off");
    },
    async *stream() {},
    close() {
      isClosed = true;
    },
  };
  return { connection, waiting, breakOff: () => waiting.shift()?.(), isClosed: () => isClosed };
}

test("a call that notices late that its connection is lost leaves alone what took its place", async () => {
  const lines = [openLine(), openLine()] as const;
  let dialled = 0;
  const house = openHouse(async (): Promise<Result<Connection>> => {
    const line = lines[dialled];
    dialled += 1;
    return line === undefined ? fail("unreachable", "there is no third") : ok(line.connection);
  }, reachNone);
  const ask = () => house.call(DaemonService.method.status, {});
  const [early, late] = [ask(), ask()];
  await expect.poll(() => lines[0].waiting.length).toBe(2);
  lines[0].breakOff();
  await early;
  const next = ask();
  await expect.poll(() => lines[1].waiting.length).toBe(1);
  lines[0].breakOff();
  await late;
  const last = ask();
  await expect.poll(() => lines[1].waiting.length).toBe(2);
  expect(lines.map((line) => line.isClosed())).toEqual([true, false]);
  for (const _ of [next, last]) lines[1].breakOff();
  await Promise.all([next, last]);
  expect(dialled).toBe(2);
  expect(lines[1].isClosed()).toBe(true);
});

test("a daemon that could not be reached is dialled again by the next question", async () => {
  let dialled = 0;
  const house = openHouse(async () => {
    dialled += 1;
    return reachNone();
  }, reachNone);
  const first = await house.call(DaemonService.method.status, {});
  const second = await house.call(DaemonService.method.status, {});
  expect([first.ok, second.ok, dialled]).toEqual([false, false, 2]);
});

test("to look whether a daemon is there starts none, and one that is there is used from then on", async () => {
  const line = openLine();
  let isRunning = false;
  let dialled = 0;
  const house = openHouse(
    async () => {
      dialled += 1;
      return reachNone();
    },
    async () => (isRunning ? ok(line.connection) : reachNone()),
  );
  expect(await house.isThere()).toBe(false);
  isRunning = true;
  expect([await house.isThere(), await house.isThere()]).toEqual([true, true]);
  const asked = house.call(DaemonService.method.status, {});
  await expect.poll(() => line.waiting.length).toBe(1);
  line.breakOff();
  expect((await asked).ok).toBe(false);
  expect([dialled, line.isClosed()]).toEqual([0, true]);
});
