// (e) The journal against SQLite (WAL, synchronous=FULL, one insert and commit an event), interleaved in one process.
// A latency is the time between two acknowledgements of one writer that is never idle: what a caller waits.
import { execFileSync } from "node:child_process";
import { fdatasync, write } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import type { EventBody } from "../core/domain/event.ts";
import { type Disk, systemDisk } from "../core/journal/disk.ts";
import { openJournal } from "../core/journal/jsonl-journal.ts";
import { ToolCallStatus } from "../proto/gen/clawd/v1/event_pb.ts";

export type Row = {
  readonly load: string;
  readonly who: "journal" | "sqlite" | "raw fdatasync" | "journal, no sync";
  readonly p50Us: number;
  readonly p99Us: number;
  readonly eventsPerS: number;
};

type Load = {
  readonly name: string;
  readonly writers: number;
  readonly eventsEach: number;
  readonly sameFile: boolean;
};

const LOADS: readonly Load[] = [
  { name: "1 writer", writers: 1, eventsEach: 200, sameFile: false },
  { name: "16 writers", writers: 16, eventsEach: 30, sameFile: false },
  { name: "256 writers", writers: 256, eventsEach: 8, sameFile: false },
  { name: "16 writers, one file", writers: 16, eventsEach: 30, sameFile: true },
];

const ROUNDS = 7;
/** Threads for syncs: with Node's four, files that could sync side by side wait for each other. */
const SYNC_THREADS = 16;

const OUTPUT = "a line of a file that was read\n".repeat(12);

function bodyOf(seq: number): EventBody {
  const value = {
    turnId: "t-1",
    callId: `c-${seq}`,
    tool: "read",
    status: ToolCallStatus.DONE,
    output: OUTPUT,
    ms: 1.5,
  };
  return { case: "toolCallEnded", value };
}

/** Appends one event of a session; resolves when it is durable. */
type Append = (session: string, seq: number) => Promise<void>;

type Sample = { readonly latenciesUs: number[]; ms: number };

/** All rows of the table; in a process of its own, because the number of threads is fixed when the first one starts. */
export async function benchJournal(): Promise<Row[]> {
  const env = { ...process.env, UV_THREADPOOL_SIZE: String(SYNC_THREADS) };
  return JSON.parse(execFileSync(process.execPath, [import.meta.filename, "--json"], { env, encoding: "utf8" }));
}

export function printJournal(rows: readonly Row[]): void {
  console.log(`\njournal appends (durable; SQLite in WAL mode, synchronous=FULL; ${SYNC_THREADS} threads)`);
  console.log(
    `  ${"load".padEnd(21)} ${"who".padEnd(16)} ${"p50 µs".padStart(8)} ${"p99 µs".padStart(8)} ${"events/s".padStart(9)}`,
  );
  for (const { load, who, p50Us, p99Us, eventsPerS } of rows) {
    const figures = [p50Us, p99Us, eventsPerS].map((value, index) => value.toFixed(0).padStart(index === 2 ? 9 : 8));
    const peer = rows.find((row) => row.load === load && row.who === "sqlite");
    const ratio =
      who === "journal" && peer !== undefined ? `  ${(eventsPerS / peer.eventsPerS).toFixed(1)} × SQLite` : "";
    console.log(`  ${load.padEnd(21)} ${who.padEnd(16)} ${figures.join(" ")}${ratio}`);
  }
}

async function measure(): Promise<Row[]> {
  const dir = await mkdtemp(join(tmpdir(), "bench-journal-"));
  try {
    const journal = await journalAppend(join(dir, "sessions"), systemDisk);
    const unsynced = await journalAppend(join(dir, "unsynced"), withoutSync);
    const sqlite = sqliteAppend(join(dir, "peer.db"));
    const raw = await rawAppend(join(dir, "raw"));
    const samples = new Map<string, Sample>();
    // The first round warms up both sides and is not counted.
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const load of LOADS) {
        const peers = { journal, sqlite, "raw fdatasync": raw, "journal, no sync": unsynced };
        for (const [who, peer] of Object.entries(peers)) {
          // The floor, and what of a latency is ours and not the disk's.
          if ((peer === raw || peer === unsynced) && load.writers > 1) continue;
          const key = `${load.name}\n${who}`;
          const sample = samples.get(key) ?? { latenciesUs: [], ms: 0 };
          if (round > 0) samples.set(key, sample);
          await run(load, peer.append, round, sample);
        }
      }
    }
    await journal.close();
    await unsynced.close();
    await sqlite.close();
    await raw.close();
    return [...samples].map(([key, sample]) => rowOf(key, sample));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

type Peer = { readonly append: Append; close(): Promise<void> | void };

async function run(load: Load, append: Append, round: number, sample: Sample): Promise<void> {
  const name = (writer: number) => `w${load.writers}${load.sameFile ? "s" : ""}-${round}-${load.sameFile ? 0 : writer}`;
  // The first event makes the session, which is not what is measured.
  for (let writer = 0; writer < (load.sameFile ? 1 : load.writers); writer += 1) await append(name(writer), 1);
  let sharedSeq = 1;
  const startMs = performance.now();
  const writers = Array.from({ length: load.writers }, async (_, writer) => {
    const session = name(writer);
    for (let index = 0; index < load.eventsEach; index += 1) {
      sharedSeq += 1;
      const beganMs = performance.now();
      await append(session, load.sameFile ? sharedSeq : index + 2);
      sample.latenciesUs.push((performance.now() - beganMs) * 1000);
    }
  });
  await Promise.all(writers);
  sample.ms += performance.now() - startMs;
}

function rowOf(key: string, { latenciesUs, ms }: Sample): Row {
  const [load = "", who] = key.split("\n");
  const sorted = latenciesUs.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { load, who: who as Row["who"], p50Us: at(0.5), p99Us: at(0.99), eventsPerS: (sorted.length / ms) * 1000 };
}

/** Writes into the page cache and waits for nothing. */
const withoutSync: Disk = {
  ...systemDisk,
  open: async (path, how) => ({ ...(await systemDisk.open(path, how)), sync: async () => {} }),
};

async function journalAppend(dir: string, disk: Disk): Promise<Peer> {
  const opened = await openJournal({ dir, now: Date.now, disk });
  if (!opened.ok) throw new Error(opened.failure.message);
  const journal = opened.value;
  return {
    async append(session, seq) {
      if (seq === 1) await journal.create(session);
      const appended = await journal.append(session, seq - 1, [bodyOf(seq)]);
      if (!appended.ok) throw new Error(appended.failure.message);
    },
    close: () => journal.close(),
  };
}

/** SQLite in Node has no asynchronous face, so writers queue: each commit blocks the whole process. */
function sqliteAppend(path: string): Peer {
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE event (session TEXT, seq INTEGER, at_ms REAL, body TEXT, PRIMARY KEY (session, seq)) WITHOUT ROWID;
  `);
  const insert = database.prepare("INSERT INTO event VALUES (?, ?, ?, ?)");
  let last = Promise.resolve();
  return {
    append(session, seq) {
      const body = bodyOf(seq);
      last = last.then(() => {
        insert.run(session, seq, Date.now(), JSON.stringify(body));
      });
      return last;
    },
    close: () => database.close(),
  };
}

/** The floor: the same number of bytes at the end of a growing file, and a sync. */
async function rawAppend(path: string): Promise<Peer> {
  const file = await open(path, "w");
  const line = Buffer.from(`${JSON.stringify(bodyOf(1))}${" ".repeat(120)}\n`);
  const [written, synced] = [promisify(write), promisify(fdatasync)];
  let offset = 0;
  return {
    async append() {
      await written(file.fd, line, 0, line.length, offset);
      offset += line.length;
      await synced(file.fd);
    },
    close: () => file.close(),
  };
}

if (process.argv[1] === import.meta.filename) {
  if (process.argv.includes("--json")) console.log(JSON.stringify(await measure()));
  else {
    console.log(`Node ${process.version}, ${availableParallelism()} processors`);
    printJournal(await benchJournal());
  }
}
