import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { afterEach, beforeEach, expect, test } from "vitest";
import { done, storedEvents, textOf } from "../../tests/contracts/journal.ts";
import { openJournal } from "./jsonl-journal.ts";

const KILLS = 20;
const SESSIONS = ["s1", "s2", "s3"];

/** Appends to three journals, groups of one to three events of many sizes, and prints each number once it may. */
const WRITER = `
  import { writeSync } from "node:fs";
  import { openJournal } from "./jsonl-journal.ts";
  const opened = await openJournal({ dir: process.argv[2], now: () => 1 });
  const journal = opened.value;
  async function write(id) {
    await journal.create(id);
    let seq = 0;
    for await (const event of journal.read(id, { after: 0, follow: false }, AbortSignal.timeout(60_000))) seq = event.seq;
    for (;;) {
      const bodies = Array.from({ length: 1 + (seq % 3) }, (_, index) => ({
        case: "userSpoke",
        value: { text: id + " " + (seq + index + 1) + " " + "ü".repeat(((seq + index) * 977) % 9000) },
      }));
      const appended = await journal.append(id, seq, bodies);
      if (!appended.ok) throw new Error(appended.failure.message);
      seq += bodies.length;
      writeSync(1, id + " " + seq + "\\n");
    }
  }
  await Promise.all(${JSON.stringify(SESSIONS)}.map(write));
`;

let dir: string;
let writer: ChildProcess | undefined;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "journal-"));
  // Bundled, because a program of .ts files takes longer to start than all the rest.
  await build({
    stdin: { contents: WRITER, resolveDir: import.meta.dirname },
    outfile: join(dir, "writer.mjs"),
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "error",
  });
});

afterEach(async () => {
  writer?.kill("SIGKILL");
  await rm(dir, { recursive: true, force: true });
});

/** Runs the writer until it acknowledged so many appends, kills it, and notes the last number of each session. */
async function writeAndKill(
  acknowledgements: number,
  delayTurns: number,
  acknowledged: Map<string, number>,
): Promise<void> {
  const child = spawn(process.execPath, [join(dir, "writer.mjs"), dir], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  writer = child;
  let stderr = "";
  child.stderr.on("data", (text) => {
    stderr += String(text);
  });
  let count = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [id = "", seq] = line.split(" ");
    acknowledged.set(id, Number(seq));
    count += 1;
    if (count !== acknowledgements) continue;
    for (let turn = 0; turn < delayTurns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  if (child.signalCode !== "SIGKILL") throw new Error(`the writer ended by itself: ${stderr}`);
}

test(`after ${KILLS} kills in the middle of writing, every acknowledged event is there`, async () => {
  const acknowledged = new Map<string, number>();
  for (let kill = 0; kill < KILLS; kill += 1) {
    await writeAndKill(1 + ((kill * 7) % 40), (kill * 13) % 50, acknowledged);
    const journal = done(await openJournal({ dir, now: () => 1 }));
    for (const id of SESSIONS) {
      const events = await storedEvents(journal, id);
      expect(events.length).toBeGreaterThanOrEqual(acknowledged.get(id) ?? 0);
      expect(done(await journal.verify(id)).events).toBe(events.length);
      for (const [index, event] of events.entries()) expect(textOf(event).startsWith(`${id} ${index + 1} `)).toBe(true);
    }
    await journal.close();
  }
  expect([...acknowledged.keys()].sort()).toEqual(SESSIONS);
});
