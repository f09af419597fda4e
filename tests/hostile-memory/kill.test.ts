import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type EmbeddingServer, startEmbeddingServer } from "../kit/embedding-server.ts";
import { type MemoryHouse, openMemoryHouse } from "../kit/memory-house.ts";
import { seededBelow } from "../kit/seeded.ts";
import { timesOf } from "../kit/thoroughness.ts";

/** At how many points the daemon is killed while it indexes, embeds, remembers, forgets and supersedes. */
const KILL_POINTS = timesOf("kills of the daemon while everything is written at once", { whole: 40, share: 5 });
const FILES = 30;
const WRITERS = 4;
const QUERIES = ["kangaroo", "wallaby", "generation*", "pouch -wallaby"];
const PLACES = [
  { workspace: "", sessionId: "" },
  { workspace: "/a", sessionId: "" },
  { workspace: "/a", sessionId: "one" },
];

let house: MemoryHouse;
let server: EmbeddingServer;
beforeEach(async () => {
  server = await startEmbeddingServer(32);
  house = await openMemoryHouse({ EMBEDDING_API_URL: server.url });
});
afterEach(async () => {
  await house.close();
  await server.close();
});

/** What was promised: notes that must be there, and those that must not. */
type Promised = {
  readonly kept: Map<string, { readonly text: string; readonly place: number }>;
  /** And by which. */
  readonly superseded: Map<string, string>;
  readonly forgotten: Set<string>;
  /** Asked to go without an answer: either is right. */
  readonly doubtful: Set<string>;
};

async function writeFiles(generation: number): Promise<void> {
  for (let file = 0; file < FILES; file += 1) {
    const path = join(house.workspace, `f${file}.md`);
    if ((file + generation) % 5 === 0) await rm(path, { force: true });
    else if (file % 3 === generation % 3) {
      await writeFile(path, `# generation${generation}\n\nkangaroo ${file % 2 === 0 ? "wallaby" : "pouch"} ${file}\n`);
    }
  }
}

/** One who remembers, supersedes and forgets until the daemon dies or it has done enough. */
async function write(promised: Promised, writer: number, pick: (below: number) => number, done: () => void) {
  const { memory } = house.dial();
  for (let step = 0; step < 12; step += 1) {
    const place = pick(PLACES.length);
    const viewer = PLACES[place] ?? { workspace: "", sessionId: "" };
    const scope = ["person", "project", "session"][place] ?? "person";
    const mine = [...promised.kept].filter(
      ([id, note]) => note.place === place && !promised.superseded.has(id) && !promised.doubtful.has(id),
    );
    const [picked] = mine[pick(mine.length + 1)] ?? [];
    const way = picked === undefined ? 0 : pick(3);
    // A note that is only added to has no older one: another may be asking for the same one to go.
    const older = way === 0 ? undefined : picked;
    // Before the question: without an answer nobody knows.
    if (older !== undefined) promised.doubtful.add(older);
    try {
      if (older !== undefined && way === 2) {
        await memory.forget({ memoryIds: [older], viewer });
        promised.forgotten.add(older);
        promised.kept.delete(older);
      } else {
        const text = `kangaroo note of ${writer} in step ${step} number ${pick(1_000_000)}`;
        const supersedes = way === 1 ? (older ?? "") : "";
        const { memoryId } = await memory.remember({ text, viewer, scope, supersedes });
        promised.kept.set(memoryId, { text, place });
        if (supersedes !== "") promised.superseded.set(supersedes, memoryId);
      }
      if (older !== undefined) promised.doubtful.delete(older);
      done();
    } catch (cause) {
      // Others may have been quicker with the same note; a daemon that is gone answers nobody.
      if (!/not_found|no note|superseded already/.test(String(cause))) return;
    }
  }
}

async function expectPromisesKept({ kept, superseded, forgotten, doubtful }: Promised): Promise<void> {
  const { memory } = house.dial();
  for (const [place, viewer] of PLACES.entries()) {
    const all = (await memory.listNotes({ viewer, all: true, limit: 10_000 })).notes;
    const now = new Set((await memory.listNotes({ viewer, limit: 10_000 })).notes.map(({ memoryId }) => memoryId));
    const byId = new Map(all.map((note) => [note.memoryId, note]));
    const isReplaced = (id: string) => {
      const newer = superseded.get(id) ?? "";
      return kept.has(newer) && !doubtful.has(newer);
    };
    const { hits } = await memory.search({ query: "kangaroo note", limit: 100, viewer });
    for (const { memoryId } of hits) expect(forgotten.has(memoryId) || isReplaced(memoryId)).toBe(false);
    for (const id of byId.keys()) expect(forgotten.has(id), `${id} came back`).toBe(false);
    for (const [id, note] of kept) {
      if (note.place !== place || doubtful.has(id)) continue;
      if (!byId.has(id)) throw new Error(`the note ${id} is lost; its journal says: ${await linesOf(id)}`);
      expect(byId.get(id)?.text).toBe(note.text);
      const newer = byId.get(id)?.supersededBy ?? "";
      expect(now.has(id)).toBe(newer === "");
      if (isReplaced(id)) expect(newer).not.toBe("");
    }
  }
}

async function linesOf(id: string): Promise<string> {
  const journal = await readFile(join(house.home, "sessions", "memory.jsonl"), "utf8");
  return journal
    .split("\n")
    .filter((line) => line.includes(id))
    .join("\n");
}

const answers = async () => {
  const found: string[][] = [];
  for (const query of QUERIES) found.push((await house.texts(query)).toSorted());
  return found;
};

test(`kill -9 of the daemon at ${KILL_POINTS} points while everything is written at once: nothing that was told is lost or comes back`, {
  timeout: 120_000 + KILL_POINTS * 8_000,
}, async () => {
  const promised: Promised = { kept: new Map(), superseded: new Map(), forgotten: new Set(), doubtful: new Set() };
  for (let point = 0; point < KILL_POINTS; point += 1) {
    const pick = seededBelow(point + 1);
    await writeFiles(point);
    await house.up();
    if (point > 0) await expectPromisesKept(promised);
    let left = 1 + pick(45);
    let killed: Promise<void> | undefined;
    const done = () => {
      left -= 1;
      if (left <= 0) killed ??= house.down("SIGKILL");
    };
    const indexing = (async () => {
      for await (const _ of house.dial().memory.index({ folder: house.workspace })) done();
      await house.dial().memory.search({ query: "pouch", mode: "hybrid" });
      done();
    })().catch(() => undefined);
    await Promise.all([
      indexing,
      ...Array.from({ length: WRITERS }, (_, writer) => write(promised, writer, pick, done)),
    ]);
    await (killed ?? house.down("SIGKILL"));
  }
  expect(promised.kept.size).toBeGreaterThan(KILL_POINTS);
  await house.up();
  await expectPromisesKept(promised);
  await house.index();
  await house.embedded();
  expect((await house.dial().memory.verifyMemory({})).problems).toEqual([]);
  const after = await answers();
  for await (const _ of house.dial().memory.rebuild({}));
  expect(await answers()).toEqual(after);
  const { journals } = await house.dial().journals.verify({});
  expect(journals.filter(({ failure }) => failure !== undefined)).toEqual([]);
});
