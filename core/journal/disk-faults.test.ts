import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { done, spoke, storedEvents, textOf } from "../../tests/contracts/journal.ts";
import { type Disk, type DiskFile, systemDisk } from "./disk.ts";
import { type JsonlJournal, openJournal } from "./jsonl-journal.ts";

/** The real disk, which counts what is asked of it and fails where the test tells it to. */
type FaultyDisk = Disk & {
  readonly calls: { write: number; sync: number; truncate: number; syncFolder: number };
  /** The next call of this kind rejects with this code; a write leaves the first `writtenBytes` behind. */
  failNext(call: "open" | "write" | "sync" | "truncate" | "syncFolder", code: string, writtenBytes?: number): void;
  /** Holds all syncs back until the returned function is called. */
  holdSyncs(): () => void;
};

function faultyDisk(): FaultyDisk {
  const calls = { write: 0, sync: 0, truncate: 0, syncFolder: 0 };
  const faults = new Map<string, { code: string; writtenBytes: number }>();
  let gate = Promise.resolve();

  function failMaybe(call: string): void {
    const fault = faults.get(call);
    faults.delete(call);
    if (fault !== undefined) throw Object.assign(new Error(`${fault.code}: made up by the test`), { code: fault.code });
  }

  function faultyFile(file: DiskFile): DiskFile {
    return {
      ...file,
      async write(bytes, offset) {
        calls.write += 1;
        const partBytes = faults.get("write")?.writtenBytes ?? 0;
        if (partBytes > 0) await file.write(bytes.subarray(0, partBytes), offset);
        failMaybe("write");
        await file.write(bytes, offset);
      },
      async sync() {
        calls.sync += 1;
        await gate;
        failMaybe("sync");
        await file.sync();
      },
      async truncate(sizeBytes) {
        calls.truncate += 1;
        failMaybe("truncate");
        await file.truncate(sizeBytes);
      },
    };
  }

  return {
    calls,
    failNext: (call, code, writtenBytes = 0) => faults.set(call, { code, writtenBytes }),
    holdSyncs() {
      const held = Promise.withResolvers<void>();
      gate = held.promise;
      return held.resolve;
    },
    async open(path, how) {
      failMaybe("open");
      return faultyFile(await systemDisk.open(path, how));
    },
    async syncFolder(path) {
      calls.syncFolder += 1;
      failMaybe("syncFolder");
      await systemDisk.syncFolder(path);
    },
  };
}

let dir: string;
let disk: FaultyDisk;
let journal: JsonlJournal;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "journal-"));
  disk = faultyDisk();
  journal = done(await openJournal({ dir, now: () => 1_700_000_000_000, disk }));
  done(await journal.create("s1"));
  done(await journal.append("s1", 0, [spoke("a")]));
});

afterEach(async () => {
  await journal.close();
  await rm(dir, { recursive: true, force: true });
});

describe("group commit", () => {
  test("appends that wait for the same file share one write and one sync", async () => {
    const before = { ...disk.calls };
    const appends = Array.from({ length: 100 }, (_, index) => journal.append("s1", index + 1, [spoke(`${index}`)]));
    for (const appended of await Promise.all(appends)) done(appended);
    expect(disk.calls.sync - before.sync).toBe(1);
    expect(disk.calls.write - before.write).toBe(1);
    expect(done(await journal.verify("s1")).events).toBe(101);
  });

  test("appends that come during a sync go together in the next one", async () => {
    const release = disk.holdSyncs();
    const first = journal.append("s1", 1, [spoke("b")]);
    const { sync } = disk.calls;
    while (disk.calls.sync === sync) await new Promise((resolve) => setImmediate(resolve));
    const later = [2, 3, 4].map((seq) => journal.append("s1", seq, [spoke(`${seq}`)]));
    release();
    for (const appended of await Promise.all([first, ...later])) done(appended);
    expect(disk.calls.sync - sync).toBe(2);
  });

  test("an append is not acknowledged, read or followed before its sync is over", async () => {
    const stop = new AbortController();
    const heard: string[] = [];
    const following = (async () => {
      for await (const event of journal.read("s1", { after: 0, follow: true }, stop.signal)) heard.push(textOf(event));
    })();
    while (heard.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const release = disk.holdSyncs();
    let isAcknowledged = false;
    const appended = journal.append("s1", 1, [spoke("b")]).then((result) => {
      isAcknowledged = true;
      return result;
    });
    const { sync } = disk.calls;
    while (disk.calls.sync === sync) await new Promise((resolve) => setImmediate(resolve));
    expect(await readFile(join(dir, "s1.jsonl"), "utf8")).toContain('"text":"b"');
    expect(isAcknowledged).toBe(false);
    expect(heard).toEqual(["a"]);
    for await (const head of journal.heads()) expect(head).toMatchObject({ sessionId: "s1", seq: 1 });
    release();
    done(await appended);
    stop.abort();
    await following;
    expect((await storedEvents(journal, "s1")).map(textOf)).toEqual(["a", "b"]);
  });

  test("a slow sync of one file does not hold up another", async () => {
    done(await journal.create("s2"));
    const release = disk.holdSyncs();
    const slow = journal.append("s1", 1, [spoke("b")]);
    const { sync } = disk.calls;
    while (disk.calls.sync === sync) await new Promise((resolve) => setImmediate(resolve));
    const other = journal.append("s2", 0, [spoke("b")]);
    while (disk.calls.sync < sync + 2) await new Promise((resolve) => setImmediate(resolve));
    release();
    done(await slow);
    done(await other);
  });

  test("a new journal's name is durable before it is announced", async () => {
    const { syncFolder } = disk.calls;
    done(await journal.create("s2"));
    expect(disk.calls.syncFolder).toBe(syncFolder + 1);
    disk.failNext("syncFolder", "EIO");
    expect(await journal.create("s3")).toMatchObject({ failure: { code: "unavailable" } });
    done(await journal.create("s3"));
  });
});

describe("a disk without room", () => {
  test.each(["ENOSPC", "EDQUOT", "EFBIG"])(
    "refuses the append with %s, leaves the file as it was, and can be used again",
    async (code) => {
      const before = readFileSync(join(dir, "s1.jsonl"));
      disk.failNext("write", code, 50);
      const appends = await Promise.all([journal.append("s1", 1, [spoke("b")]), journal.append("s1", 2, [spoke("c")])]);
      for (const appended of appends) expect(appended).toMatchObject({ ok: false, failure: { code: "exhausted" } });
      expect(readFileSync(join(dir, "s1.jsonl"))).toEqual(before);
      done(await journal.append("s1", 1, [spoke("d")]));
      expect((await storedEvents(journal, "s1")).map(textOf)).toEqual(["a", "d"]);
      expect(done(await journal.verify("s1")).events).toBe(2);
    },
  );

  test("refuses what was built on the refused append too", async () => {
    const release = disk.holdSyncs();
    disk.failNext("write", "ENOSPC", 10);
    const first = journal.append("s1", 1, [spoke("b")]);
    const { sync } = disk.calls;
    while (disk.calls.sync === sync) await new Promise((resolve) => setImmediate(resolve));
    const second = journal.append("s1", 2, [spoke("c")]);
    release();
    expect([await first, await second]).toMatchObject([
      { failure: { code: "exhausted" } },
      { failure: { code: "exhausted" } },
    ]);
    expect((await storedEvents(journal, "s1")).map(textOf)).toEqual(["a"]);
  });

  test("that cannot take back a part of a line closes the journal", async () => {
    disk.failNext("write", "ENOSPC", 10);
    disk.failNext("truncate", "EIO");
    expect(await journal.append("s1", 1, [spoke("b")])).toMatchObject({ failure: { code: "unavailable" } });
    expect(await journal.append("s1", 1, [spoke("b")])).toMatchObject({ failure: { code: "unavailable" } });
    expect((await storedEvents(journal, "s1")).map(textOf)).toEqual(["a"]);
  });

  test("for another file handle is told as what it is, and is no harm", async () => {
    const again = done(await openJournal({ dir, now: () => 1, disk }));
    disk.failNext("open", "EMFILE");
    expect(await again.append("s1", 1, [spoke("b")])).toMatchObject({ failure: { code: "exhausted" } });
    done(await again.append("s1", 1, [spoke("b")]));
    await again.close();
  });
});

describe("a disk that breaks its promise", () => {
  test.each(["write", "sync"] as const)("by a failed %s closes that journal for good and says so", async (call) => {
    done(await journal.create("s2"));
    const follower = journal
      .read("s1", { after: 1, follow: true }, new AbortController().signal)
      [Symbol.asyncIterator]();
    disk.failNext(call, "EIO");
    const refusal = {
      failure: { code: "unavailable", message: expect.stringContaining("is closed"), hint: expect.any(String) },
    };
    // Expected before it can come: a rejection that nobody waits for yet would count as unhandled.
    const heard = expect(follower.next()).rejects.toMatchObject(refusal);
    expect(await journal.append("s1", 1, [spoke("b")])).toMatchObject(refusal);
    expect(await journal.append("s1", 1, [spoke("b")])).toMatchObject(refusal);
    await heard;
    // What was acknowledged can be read, and no other journal is harmed.
    expect((await storedEvents(journal, "s1")).map(textOf)).toEqual(["a"]);
    done(await journal.append("s2", 0, [spoke("x")]));
    // A restart finds the acknowledged events and nothing that only the page cache had.
    const again = done(await openJournal({ dir, now: () => 1, disk: systemDisk }));
    expect((await storedEvents(again, "s1")).map(textOf)).toEqual(["a"]);
    done(await again.append("s1", 1, [spoke("c")]));
    await again.close();
  });

  test("when the journal is first looked at is told, and nothing is read", async () => {
    const again = done(await openJournal({ dir, now: () => 1, disk }));
    disk.failNext("sync", "EIO");
    await expect(storedEvents(again, "s1")).rejects.toMatchObject({ failure: { code: "unavailable" } });
    await again.close();
  });
});

const journalModule = JSON.stringify(join(import.meta.dirname, "jsonl-journal.ts"));

/** Appends lines of about 1 kB until one is refused; prints the refusal, and how an append of one small event goes then. */
const FILL_THE_DISK = `
  import { openJournal } from ${journalModule};
  process.on("SIGXFSZ", () => {});
  const [dir] = process.argv.slice(1);
  const opened = await openJournal({ dir, now: () => 1 });
  const journal = opened.value;
  const say = (text) => [{ case: "userSpoke", value: { text } }];
  await journal.create("s1");
  let seq = 0;
  for (;;) {
    const appended = await journal.append("s1", seq, say("x".repeat(1000)));
    if (!appended.ok) { console.log(JSON.stringify({ seq, code: appended.failure.code })); break; }
    seq += 1;
  }
  const verified = await journal.verify("s1");
  console.log(JSON.stringify({ events: verified.value?.events }));
  await journal.close();
`;

function fillTheDisk(command: string, args: readonly string[], folder: string): unknown[] {
  const node = [process.execPath, "--input-type=module", "-e", FILL_THE_DISK, folder];
  // What Node compiles it would keep in a file, for which the limit counts, too.
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" };
  const run = spawnSync(command, [...args, ...node], { env, encoding: "utf8", timeout: 20_000 });
  if (run.status !== 0) throw new Error(`the child failed: ${run.stderr}`);
  return run.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

describe("a real limit", () => {
  test("on the size of a file ends in exhausted, with every acknowledged event there", async () => {
    const folder = join(dir, "small");
    const [refused, verified] = fillTheDisk("prlimit", ["--fsize=20000"], folder);
    expect(refused).toMatchObject({ code: "exhausted", seq: expect.any(Number) });
    const again = done(await openJournal({ dir: folder, now: () => 1 }));
    const { seq } = refused as { seq: number };
    expect(verified).toEqual({ events: seq });
    expect(await storedEvents(again, "s1")).toHaveLength(seq);
    expect(statSync(join(folder, "s1.jsonl")).size).toBeLessThanOrEqual(20_000);
    done(await again.append("s1", seq, [spoke("goes on")]));
    await again.close();
  });

  const mount = smallMount();
  afterAll(() => mount?.unmount());

  test.skipIf(mount === undefined)(
    "on a disk of 64 kB ends in exhausted, and removing something makes it usable",
    async () => {
      const folder = mount?.folder ?? "";
      execFileSync("dd", ["if=/dev/zero", `of=${join(folder, "ballast")}`, "bs=4096", "count=4"], { stdio: "ignore" });
      const [refused, verified] = fillTheDisk("env", [], folder);
      const { seq } = refused as { seq: number };
      expect(refused).toMatchObject({ code: "exhausted" });
      expect(verified).toEqual({ events: seq });
      rmSync(join(folder, "ballast"));
      const again = done(await openJournal({ dir: folder, now: () => 1 }));
      done(await again.append("s1", seq, [spoke("goes on")]));
      expect(await storedEvents(again, "s1")).toHaveLength(seq + 1);
      await again.close();
    },
  );
});

/** A file system of 64 kB; undefined, with the reason printed, where none may be mounted. */
function smallMount(): { folder: string; unmount(): void } | undefined {
  const folder = mkdtempSync(join(tmpdir(), "small-disk-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], { encoding: "utf8" });
  if (mounted.status !== 0) {
    console.warn(
      `no test on a full disk: a tmpfs cannot be mounted (${(mounted.stderr ?? String(mounted.error)).trim()})`,
    );
    rmSync(folder, { recursive: true });
    return undefined;
  }
  return {
    folder,
    unmount() {
      spawnSync("umount", [folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
