import type { ChildProcess } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Bench, eventually, openBench, processesWith } from "../kit/claw.ts";
import { type Era, INITIALIZE, openClientMessages } from "./client-messages.ts";
import { FUZZ_LIMIT_MS, MESSAGES, MIB, SEED } from "./fuzz-size.ts";
import { openHttpStranger } from "./http-stranger.ts";
import { openStdioStranger } from "./stdio-stranger.ts";

// Clients of `claw mcp serve` that say what no client should, a real daemon behind it.

/** A client says so many before it waits for an answer. */
const AT_ONCE = 250;

const NEWLINE = Buffer.from("\n");
/** What a server may hold on to beside what it held after a fifth of the messages, MiB. */
const HELD_GROWTH_LIMIT_MIB = 24;

let bench: Bench;
const children: ChildProcess[] = [];
beforeEach(async () => {
  bench = await openBench();
  await writeFile(join(bench.workspace, "notes.md"), "the blue house");
  await bench.claw("status");
});
afterEach(async () => {
  // Where something failed they still run.
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await bench.close();
});

/** What must be true of the house after all of it. */
async function isUnharmed(pid: number): Promise<void> {
  expect(await bench.pid()).toBe(pid);
  const verified = await bench.claw("audit", "verify");
  expect(verified).toMatchObject({ code: 0, stderr: expect.stringMatching(/all \d+ journals are whole/) });
  await bench.claw("down");
  await eventually(
    () => processesWith(bench.home),
    (left) => left.length === 0,
    "no process is left",
  );
}

type Life = { readonly era: Era; readonly opens: boolean };
/** Who opens the connection first, and who does not care. */
const LIVES: readonly Life[] = [
  { era: "legacy", opens: true },
  { era: "modern", opens: true },
  { era: "legacy", opens: false },
  { era: "modern", opens: false },
];

async function liveOverStdio({ era, opens }: Life, seed: number, messages: number) {
  const stream = openClientMessages(seed, era);
  let backs = 0;
  const stranger = await openStdioStranger(bench, {
    question: (id) => Buffer.concat([stream.next(), NEWLINE, stream.answer(id)]),
    held(requestState) {
      backs += 1;
      return stream.comeBack(`back${backs}`, requestState);
    },
  });
  children.push(stranger.child);
  const { probe, ledger } = stranger;
  if (opens && era === "legacy")
    await stranger.ask("open", Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", id: "open", ...INITIALIZE })}\n`));
  if (opens && era === "modern") await stranger.ask("open", stream.good("open"));
  let slowestMs = 0;
  let heldAtStart = 0;
  for (let said = 0; said < messages; said += AT_ONCE) {
    const startedMs = performance.now();
    const chunks = Array.from({ length: AT_ONCE }, () => stream.next());
    await stranger.ask(`good${said}`, Buffer.concat([...chunks, stream.good(`good${said}`)]));
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
    if (heldAtStart === 0 && said >= messages / 5) heldAtStart = await probe.heldBytes();
  }
  const late = setTimeout(() => stranger.child.kill("SIGKILL"), 60_000);
  await Promise.race([ledger.settled(), new Promise((resolve) => stranger.child.once("exit", resolve))]);
  clearTimeout(late);
  expect(ledger.open()).toEqual([]);
  // Not before: who began again under another name meanwhile waits for what the first one began.
  if (opens) expect(JSON.stringify(await stranger.ask("last", stream.good("last")))).toContain("the blue house");
  const grownMib = ((await probe.heldBytes()) - heldAtStart) / MIB;
  expect(grownMib).toBeLessThan(HELD_GROWTH_LIMIT_MIB);
  expect(await stranger.leave()).toEqual([0, null]);
  return { ...ledger.count, slowestMs, grownMib };
}

test(
  `over stdio, of ${MESSAGES} messages that no client should say each that asks something is answered, and nothing is held`,
  async () => {
    const pid = await bench.pid();
    const startedMs = performance.now();
    const ends = await Promise.all(
      LIVES.map((life, at) => liveOverStdio(life, SEED * 1_000_003 + at, MESSAGES / LIVES.length)),
    );
    for (const { asked, answered, slowestMs, grownMib } of ends) {
      console.info(
        `fuzz over stdio: ${asked} asked, ${answered} answers, slowest ${AT_ONCE} ${Math.round(slowestMs)} ms, +${grownMib.toFixed(1)} MiB`,
      );
    }
    console.info(`fuzz over stdio: ${MESSAGES} in ${Math.round((performance.now() - startedMs) / 1_000)} s`);
    await isUnharmed(pid);
  },
  FUZZ_LIMIT_MS,
);

test(
  `over HTTP, of ${MESSAGES} messages that no client should say each is answered, and nothing is held`,
  async () => {
    const pid = await bench.pid();
    const startedMs = performance.now();
    const stranger = await openHttpStranger(bench, SEED);
    children.push(stranger.child);
    await stranger.say(MESSAGES / 5);
    const heldAtStart = await stranger.probe.heldBytes();
    await stranger.say((MESSAGES * 4) / 5);
    expect(stranger.unanswered).toEqual([]);
    await stranger.isServed();
    const grownMib = ((await stranger.probe.heldBytes()) - heldAtStart) / MIB;
    console.info(
      `fuzz over HTTP: ${MESSAGES} in ${Math.round((performance.now() - startedMs) / 1_000)} s,`,
      Object.fromEntries(stranger.statuses),
      `slowest ${Math.round(stranger.slowest().ms)} ms, +${grownMib.toFixed(1)} MiB`,
    );
    expect(grownMib).toBeLessThan(HELD_GROWTH_LIMIT_MIB);
    expect(await stranger.close()).toEqual([0, null]);
    await isUnharmed(pid);
  },
  FUZZ_LIMIT_MS,
);
