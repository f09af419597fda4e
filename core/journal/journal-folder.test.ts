import { cp, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { done, followedEvents, spoke, storedEvents, textOf } from "../../tests/contracts/journal.ts";
import { type JsonlJournal, openJournal } from "./jsonl-journal.ts";

let home: string;
let dir: string;
let journal: JsonlJournal;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "journal-"));
  dir = join(home, "new", "sessions");
  journal = done(await openJournal({ dir, now: () => 1_700_000_000_000 }));
});

afterEach(async () => {
  await journal.close();
  await rm(home, { recursive: true, force: true });
});

async function write(sessionId: string, ...texts: string[]): Promise<void> {
  done(await journal.create(sessionId));
  done(await journal.append(sessionId, 0, texts.map(spoke)));
}

async function headIds(): Promise<string[]> {
  const heads: string[] = [];
  for await (const { sessionId, seq } of journal.heads()) heads.push(`${sessionId} ${seq}`);
  return heads;
}

describe("the file", () => {
  test("is a line of ProtoJSON an event, hash last, for its owner's eyes only", async () => {
    await write("s1", "hello");
    expect(await readFile(join(dir, "s1.jsonl"), "utf8")).toBe(
      '{"seq":1,"atMs":1700000000000,"userSpoke":{"messageId":"m-5","text":"hello"},' +
        '"hash":"65be13cdb462b150e4af7b92377568d49509b9d7b7b640849a94bb9dd1f764f5"}\n',
    );
    expect((await stat(join(dir, "s1.jsonl"))).mode & 0o777).toBe(0o600);
    expect((await stat(dir)).mode & 0o777).toBe(0o700);
  });

  test("may be longer than any chunk that it is read in", async () => {
    const texts = Array.from({ length: 30 }, (_, index) => "ü".repeat(index * 20_000));
    await write("s1", ...texts);
    expect((await storedEvents(journal, "s1")).map(textOf)).toEqual(texts);
    expect(done(await journal.verify("s1")).events).toBe(30);
  });

  test("takes no line over the limit", async () => {
    done(await journal.create("s1"));
    const refused = await journal.append("s1", 0, [spoke("x".repeat(16 * 1024 * 1024))]);
    expect(refused).toMatchObject({ failure: { code: "invalid", message: expect.stringContaining("16777216 bytes") } });
    done(await journal.append("s1", 0, [spoke("short")]));
  });
});

test("what was on its way when the journal was removed and made again is not written into the new one", async () => {
  await write("s1", "a");
  const [removed, created, stale] = await Promise.all([
    journal.remove("s1"),
    journal.create("s1"),
    journal.append("s1", 1, [spoke("b")]),
  ]);
  expect([removed.ok, created.ok, stale]).toMatchObject([true, true, { failure: { code: "conflict" } }]);
  expect(await storedEvents(journal, "s1")).toEqual([]);
  done(await journal.append("s1", 0, [spoke("c")]));
});

describe("people and other programs in the folder", () => {
  test("a journal copied in is listed, read and appended to", async () => {
    await write("s1", "a", "b");
    await cp(join(dir, "s1.jsonl"), join(dir, "copy.jsonl"));
    expect((await headIds()).sort()).toEqual(["copy 2", "s1 2"]);
    done(await journal.append("copy", 2, [spoke("c")]));
    expect((await storedEvents(journal, "copy")).map(textOf)).toEqual(["a", "b", "c"]);
  });

  test("a follower that waits for a journal hears one that is copied in from its first event", async () => {
    await write("s1", "a", "b");
    const heard = followedEvents(journal, "copy", 0, 3);
    await cp(join(dir, "s1.jsonl"), join(dir, "copy.jsonl"));
    done(await journal.append("copy", 2, [spoke("c")]));
    expect((await heard).map(textOf)).toEqual(["a", "b", "c"]);
  });

  test("a journal deleted by hand is gone: appends say so, readers find nothing, followers end", async () => {
    await write("s1", "a");
    const follower = journal
      .read("s1", { after: 1, follow: true }, new AbortController().signal)
      [Symbol.asyncIterator]();
    const ended = follower.next();
    await rm(join(dir, "s1.jsonl"));
    expect(await journal.append("s1", 1, [spoke("b")])).toMatchObject({ failure: { code: "not_found" } });
    expect(await ended).toMatchObject({ done: true });
    expect(await storedEvents(journal, "s1")).toEqual([]);
    expect(await headIds()).toEqual([]);
    await write("s1", "anew");
    expect((await storedEvents(journal, "s1")).map(textOf)).toEqual(["anew"]);
  });

  test("a journal replaced by hand is not written into by someone who knew the old one", async () => {
    await write("s1", "a");
    await write("other", "b", "c");
    await cp(join(dir, "other.jsonl"), join(dir, "s1.jsonl"));
    expect(await journal.append("s1", 1, [spoke("x")])).toMatchObject({ failure: { code: "conflict" } });
    expect((await storedEvents(journal, "s1")).map(textOf)).toEqual(["b", "c"]);
    done(await journal.append("s1", 2, [spoke("d")]));
    expect(done(await journal.verify("s1")).events).toBe(3);
  });

  test("what is no journal is not listed and does no harm", async () => {
    await write("s1", "a");
    await writeFile(join(dir, "notes.txt"), "x");
    await writeFile(join(dir, "Not-An-Id.jsonl"), "x\n");
    await symlink("/etc/passwd", join(dir, "link.jsonl"));
    expect(await headIds()).toEqual(["s1 1"]);
    await expect(storedEvents(journal, "link")).rejects.toMatchObject({ failure: { code: "unavailable" } });
  });

  test("a broken journal is listed with the last number that it shows, and does not hide the others", async () => {
    await write("s1", "a", "b");
    await writeFile(join(dir, "broken.jsonl"), "nonsense\n");
    expect((await headIds()).sort()).toEqual(["broken 0", "s1 2"]);
    await expect(storedEvents(journal, "broken")).rejects.toMatchObject({
      failure: { code: "corrupt", message: expect.stringContaining("broken.jsonl is broken at line 1") },
    });
    expect(await journal.append("broken", 0, [spoke("a")])).toMatchObject({ failure: { code: "corrupt" } });
    expect(await readFile(join(dir, "broken.jsonl"), "utf8")).toBe("nonsense\n");
  });

  test("a folder deleted by hand is told as that, with what to do", async () => {
    await write("s1", "a");
    await rm(dir, { recursive: true });
    const gone = { code: "not_found", message: expect.stringContaining(`${dir}, is gone`), hint: expect.any(String) };
    expect(await journal.create("s2")).toMatchObject({ ok: false, failure: gone });
    await expect(headIds()).rejects.toMatchObject({ failure: gone });
  });

  test("the newest comes first", async () => {
    for (const [index, id] of ["old", "newest", "new"].entries()) {
      await write(id, "a");
      const at = [1000, 3000, 2000][index] ?? 0;
      await utimes(join(dir, `${id}.jsonl`), at, at);
    }
    expect(await headIds()).toEqual(["newest 1", "new 1", "old 1"]);
  });

  test("fields and events of a newer version are passed over, the rest is read", async () => {
    const { hash } = await import("node:crypto");
    let before = "";
    const lines = [
      '{"seq":1,"atMs":1,"userSpoke":{"text":"a","mood":"good"},"later":7',
      '{"seq":2,"atMs":2,"flewAway":{}',
    ];
    const sealed = lines.map((line) => {
      before = hash("sha256", before + line);
      return `${line},"hash":"${before}"}\n`;
    });
    await writeFile(join(dir, "newer.jsonl"), sealed.join(""));
    expect((await storedEvents(journal, "newer")).map(textOf)).toEqual(["a", "(undefined)"]);
    expect(await headIds()).toEqual(["newer 2"]);
  });
});

describe("many journals", () => {
  test("keep a bounded number of files open, and none after closing", async () => {
    const open = async () => (await readdir("/proc/self/fd")).length;
    const before = await open();
    for (let index = 0; index < 300; index += 1) await write(`s${index}`, "a");
    expect(await open()).toBeLessThan(before + 270);
    for (let index = 0; index < 300; index += 1) done(await journal.append(`s${index}`, 1, [spoke("b")]));
    expect(await open()).toBeLessThan(before + 270);
    expect(await headIds()).toHaveLength(300);
    await journal.close();
    expect(await open()).toBeLessThan(before + 10);
    expect(await journal.append("s1", 2, [])).toMatchObject({ failure: { code: "unavailable" } });
    expect(await journal.create("s1000")).toMatchObject({ failure: { code: "unavailable" } });
  });

  test("closing lets appends that wait become durable, and ends followers", async () => {
    await write("s1", "a");
    const heard = followedEvents(journal, "s1", 0, 99);
    const appended = journal.append("s1", 1, [spoke("b")]);
    await journal.close();
    expect(done(await appended)).toHaveLength(1);
    // A follower that was behind may miss the end: it asks again, after its last number, when the daemon is back.
    expect(["a", "a b"]).toContain((await heard).map(textOf).join(" "));
    journal = done(await openJournal({ dir, now: () => 1_700_000_000_000 }));
    expect((await storedEvents(journal, "s1")).map(textOf)).toEqual(["a", "b"]);
  });
});
