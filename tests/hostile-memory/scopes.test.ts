import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../kit/claw.ts";
import { type MemoryHouse, openMemoryHouse } from "../kit/memory-house.ts";

// Every way to memory that a conversation has, asked from every place for notes of every other place. A conversation's
// journal holds all that its person and its model were told, so that is where a leak would stand.

let house: MemoryHouse;
beforeEach(async () => {
  house = await openMemoryHouse();
});
afterEach(() => house.close());

type Place = { readonly workspace: string; readonly sessionId: string };
type Written = { readonly id: string; readonly word: string; readonly scope: string; readonly place: Place };

const TAIL = "and the kangaroo sleeps in the harbour behind the blue door";

/** Gives what only the person is shown. */
async function say(sessionId: string, text: string): Promise<string> {
  const ended = async () => (await journalOf(sessionId)).split('"turnEnded"').length;
  const before = await ended();
  const { turnId, shown } = await house.dial().sessions.say({ sessionId, text, yolo: true });
  if (turnId !== "") await eventually(ended, (now) => now > before, `the end of ${text}`);
  return shown;
}

const journalOf = (sessionId: string) => readFile(join(house.home, "sessions", `${sessionId}.jsonl`), "utf8");

function isSeen({ scope, place }: Written, viewer: Place): boolean {
  if (scope === "person") return true;
  return scope === "project" ? place.workspace === viewer.workspace : place.sessionId === viewer.sessionId;
}

test("no conversation hears of a note of another folder or conversation, nor of one that is gone, by any way there is", {
  timeout: 90_000,
}, async () => {
  // A reply that quotes a note is a message of its conversation, and messages are found from everywhere.
  await writeFile(join(house.home, "config.toml"), "[memory]\nconversations = false\n");
  await house.up();
  const { memory, sessions } = house.dial();
  const places: Place[] = [];
  for (const folder of ["a", "a", "a/below", "b"]) {
    const workspace = join(house.workspace, folder);
    await mkdir(workspace, { recursive: true });
    const { sessionId } = await sessions.openSession({ workspace });
    places.push({ workspace, sessionId });
  }
  const written: Written[] = [];
  const remember = async (scope: string, place: Place, more: object = {}) => {
    const word = `secret${written.length}x`;
    const { memoryId } = await memory.remember({ text: `${word} ${TAIL}`, scope, viewer: place, ...more });
    written.push({ id: memoryId, word, scope, place });
    return memoryId;
  };
  const gone: string[] = [];
  for (const place of places) {
    for (const scope of ["person", "project", "session"]) {
      const older = await remember(scope, place);
      await remember(scope, place, { supersedes: older });
      const forgotten = await remember(scope, place);
      await memory.forget({ memoryIds: [forgotten], viewer: place });
      gone.push(older, forgotten);
    }
  }
  const soon = Date.now() + 2_000;
  for (const place of places) gone.push(await remember("person", place, { expiresAtMs: soon }));
  await eventually(
    () => Date.now(),
    (now) => now > soon,
    "the expiry",
  );
  for (const viewer of places) {
    const { sessionId } = viewer;
    let shown = "";
    const foreign = written.find((note) => !isSeen(note, viewer) && !gone.includes(note.id));
    for (const words of [
      TAIL,
      `call recall ${JSON.stringify({ query: TAIL, k: 50 })}`,
      ...["hybrid", "fts", "vector"].map(
        (source) => `call memory_search ${JSON.stringify({ query: TAIL, source, limit: 100 })}`,
      ),
      `call memory_search ${JSON.stringify({ query: `kind:note session:${foreign?.place.sessionId} kangaroo` })}`,
      `call forget ${JSON.stringify({ memory_id: foreign?.id })}`,
      `call remember ${JSON.stringify({ text: "mine now", supersedes: foreign?.id })}`,
      "/memory list",
      "/memory search kangaroo harbour",
      `/forget ${foreign?.id}`,
      `/memory forget ${foreign?.id} ${written[1]?.id}x`,
    ]) {
      // A command that is refused says so, and what it says counts as well.
      shown += await say(sessionId, words).catch(String);
    }
    const told = `${shown}${await journalOf(sessionId)}`;
    for (const note of written) {
      const may = isSeen(note, viewer) && !gone.includes(note.id);
      if (!may)
        expect(told, `${note.scope} note of ${note.place.workspace} in ${viewer.workspace}`).not.toContain(note.word);
    }
    const own = written.filter((note) => isSeen(note, viewer) && !gone.includes(note.id));
    expect(own.filter(({ word }) => told.includes(word)).length).toBeGreaterThanOrEqual(own.length - 1);
  }
  const { rows } = await house.dial().journals.query({ sql: "select count(*) from notes" });
  expect(rows).toHaveLength(1);
  for (const note of written.filter(({ id }) => !gone.includes(id))) {
    const { notes } = await memory.listNotes({ viewer: note.place, limit: 1_000 });
    expect(notes.map(({ memoryId }) => memoryId)).toContain(note.id);
  }
});

test("SQL over memory reads nothing of the host, changes nothing, and a query that kills its engine kills nothing else", {
  timeout: 60_000,
}, async () => {
  await writeFile(join(house.workspace, "a.md"), "The kangaroo sleeps.\n");
  await house.up();
  await house.index();
  const secret = join(house.home, "secret.csv");
  await writeFile(secret, "swordfish\n");
  const refused = [
    `select * from '${secret}'`,
    `select * from read_csv('${secret}')`,
    `select * from read_text('${secret}')`,
    `select * from glob('/*')`,
    `select * from read_parquet('${house.home}/memory/views/*/*.parquet')`,
    `select * from '${house.home}/memory/memory.duckdb'`,
    `attach '${house.home}/memory/memory.duckdb' as m`,
    `copy memory_chunks to '${house.home}/out.csv'`,
    "create table memory_x as select * from memory_chunks",
    "delete from memory_chunks",
    "drop view memory_chunks",
    "set enable_external_access = true",
    "select * from duckdb_settings(), memory_chunks",
    "select * from memory_chunks; select 1",
    "select * from query('select * from memory_chunks')",
    "select * from memory_chunks, enable_logging(storage_path = '/tmp/x')",
    "pragma database_list",
    "install httpfs",
    "load httpfs",
    "select getenv('HOME') from memory_chunks",
    "select json_structure(repeat('[', 200000) || repeat(']', 200000)) from memory_chunks",
    "select count(*) from memory_chunks, range(100000000000) a, range(100000000000) b where text = a::varchar",
    "select repeat(text, 1000000000) from memory_chunks",
  ];
  for (const sql of refused) {
    const answer = await house
      .dial()
      .journals.query({ sql }, { timeoutMs: 45_000 })
      .then(
        ({ rows }) => JSON.stringify(rows.map((row) => row.values)),
        () => "refused",
      );
    expect(answer, sql).toBe("refused");
  }
  const { rows, truncated } = await house
    .dial()
    .journals.query({ sql: "select a.text, r from memory_chunks a, range(100000) t(r)" });
  expect({ rows: rows.length, truncated }).toEqual({ rows: 10_000, truncated: true });
  expect(await house.texts("kangaroo")).toHaveLength(1);
  expect((await house.dial().memory.verifyMemory({})).problems).toEqual([]);
});

test("an export holds what the person may read and no word that was forgotten; a rebuild and views hold none either", {
  timeout: 60_000,
}, async () => {
  await house.up();
  const { memory } = house.dial();
  const { memoryId } = await memory.remember({ text: "the swordfish is forgotten" });
  const soon = await memory.remember({ text: "the herring takes its place", supersedes: memoryId });
  await memory.remember({ text: "the kangaroo stays" });
  await writeFile(join(house.workspace, "gone.md"), "The narwhal is gone.\n");
  await house.index();
  await memory.forget({ memoryIds: [memoryId] });
  await memory.forget({ memoryIds: [soon.memoryId] });
  await rm(join(house.workspace, "gone.md"));
  await house.index();
  const folder = join(house.home, "export");
  await mkdir(folder);
  const { files } = await memory.export({ folder });
  expect(files.length).toBeGreaterThanOrEqual(3);
  expect((await readdir(folder)).length).toBe(files.length);
  await house.sql("select count(*) from memory_chunks");
  const views = join(house.home, "memory", "views");
  for (const place of [folder, views]) {
    for (const entry of await readdir(place, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const bytes = await readFile(join(entry.parentPath, entry.name), "latin1");
      expect(bytes, entry.name).not.toMatch(/swordfish|herring|narwhal/);
    }
  }
  const notes = await readFile(join(folder, "notes.parquet"), "latin1");
  expect(notes).toContain("kangaroo");
  // It goes nowhere but into a folder that is there, and takes nothing of what lies there with it.
  await writeFile(join(folder, "mine.txt"), "mine");
  await memory.export({ folder });
  expect(await readFile(join(folder, "mine.txt"), "utf8")).toBe("mine");
  for (const wrong of ["", "relative", join(folder, "mine.txt"), join(folder, "none")]) {
    await expect(memory.export({ folder: wrong })).rejects.toThrow();
  }
});
