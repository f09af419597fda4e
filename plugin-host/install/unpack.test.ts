import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, deflateRawSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeTar, makeZip, paxRecord } from "../fixtures/archives.ts";
import { sniffArchive, unpackArchive } from "./unpack.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "unpack-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function unpack(bytes: Uint8Array) {
  const form = sniffArchive(bytes);
  if (form === undefined) throw new Error("no archive");
  const [file, folder] = [join(dir, "archive"), join(dir, "out")];
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(file, bytes);
  const unpacked = await unpackArchive(file, form, folder);
  return unpacked.ok ? "done" : unpacked.failure.message.replace(`${file} `, "");
}
const read = (path: string) => readFileSync(join(dir, "out", path), "utf8");
const isExecutable = (path: string) => (statSync(join(dir, "out", path)).mode & 0o100) !== 0;

describe("what the usual tools make is unpacked", () => {
  beforeEach(() => {
    const long = join(dir, "in", "a".repeat(90), "b".repeat(90));
    mkdirSync(long, { recursive: true });
    writeFileSync(join(long, "deep.txt"), "deep");
    writeFileSync(join(dir, "in", "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
    writeFileSync(join(dir, "in", "empty"), "");
    writeFileSync(join(dir, "in", "große.txt"), "ß".repeat(300_000));
  });

  test.each(["gnu", "posix", "ustar"])("tar, format %s, packed and not", async (format) => {
    for (const flags of ["-cf", "-czf"]) {
      execFileSync("tar", [flags, join(dir, "a.tar"), `--format=${format}`, "in"], { cwd: dir });
      expect(await unpack(readFileSync(join(dir, "a.tar")))).toBe("done");
      expect(read(`in/${"a".repeat(90)}/${"b".repeat(90)}/deep.txt`)).toBe("deep");
      expect(read("in/große.txt")).toBe("ß".repeat(300_000));
      expect([read("in/empty"), isExecutable("in/run.sh"), isExecutable("in/empty")]).toEqual(["", true, false]);
    }
  });

  test("zip, as Python makes it, folders, stored and deflated", async () => {
    for (const method of ["ZIP_STORED", "ZIP_DEFLATED"]) {
      const script = `import zipfile,os
z=zipfile.ZipFile("a.zip","w",zipfile.${method})
for top,_,names in os.walk("in"):
  z.write(top)
  for name in names: z.write(os.path.join(top,name))
z.close()`;
      execFileSync("python3", ["-c", script], { cwd: dir });
      expect(await unpack(readFileSync(join(dir, "a.zip")))).toBe("done");
      expect(read("in/große.txt")).toBe("ß".repeat(300_000));
      expect([read("in/empty"), isExecutable("in/run.sh"), isExecutable("in/empty")]).toEqual(["", true, false]);
    }
  });
});

describe("a path that leads anywhere else is refused", () => {
  test.each([
    ["/etc/cron.d/x", "absolute path"],
    ["a/../../x", "leads out of it"],
    ["..", "leads out of it"],
    ["a\\..\\x", "forbidden characters"],
    ["a\nb", "forbidden characters"],
    [`${"a/".repeat(40)}x`, "too long"],
  ])("%j", async (path, problem) => {
    expect(await unpack(makeTar([{ path, text: "x" }]))).toContain(problem);
    expect(await unpack(makeZip([{ path, text: "x" }]))).toContain(problem);
    expect(await unpack(makeTar([{ path: "x", text: paxRecord("path", path), type: "x" }, { path: "y" }]))).toContain(
      problem,
    );
    expect(existsSync(join(dir, "x"))).toBe(false);
  });

  test("an entry without a name, and the top as a file", async () => {
    expect(await unpack(makeTar([{ path: "", text: "x" }]))).toContain("without a name");
    expect(await unpack(makeTar([{ path: ".", text: "x" }]))).toContain("twice");
  });
});

describe("what is no plain file or folder is refused", () => {
  test.each(["1", "2", "3", "4", "6", "7", "S", "K"])("tar type %s", async (type) => {
    expect(await unpack(makeTar([{ path: "x", type }]))).toMatch(/^holds (a link|a device|an entry of the unknown)/);
    expect(readdirSync(join(dir, "out"))).toEqual([]);
  });

  test("a link, a device and an encrypted file in a zip", async () => {
    expect(await unpack(makeZip([{ path: "x", text: "/etc/passwd", mode: 0o120777 }]))).toContain("holds a link");
    expect(await unpack(makeZip([{ path: "x", mode: 0o020644 }]))).toContain("neither a file nor a folder");
    expect(await unpack(makeZip([{ path: "x", text: "x", flags: 1 }]))).toContain("encrypted");
  });

  test("a link that the usual tar packs", async () => {
    mkdirSync(join(dir, "in"));
    symlinkSync("/etc/passwd", join(dir, "in", "words.txt"));
    execFileSync("tar", ["-czf", join(dir, "a.tgz"), "in"], { cwd: dir });
    expect(await unpack(readFileSync(join(dir, "a.tgz")))).toBe('holds a link: "in/words.txt"');
  });
});

describe("one path stands for one thing", () => {
  test.each([
    [["a", "a"], '"a" twice'],
    [["a", "./a"], '"a" twice'],
    [["a", "a/b"], "as a file and as a folder"],
    [["a/b", "a"], '"a" twice'],
  ])("%j", async (paths, problem) => {
    expect(await unpack(makeTar(paths.map((path) => ({ path }))))).toContain(problem);
    expect(await unpack(makeZip(paths.map((path) => ({ path }))))).toContain(problem);
  });

  test("a folder may be named again", async () => {
    expect(await unpack(makeTar(["a/", "a/b", "a/"].map((path) => ({ path, type: path === "a/b" ? "0" : "5" }))))).toBe(
      "done",
    );
  });

  test("a zip whose directory and local header differ", async () => {
    expect(await unpack(makeZip([{ path: "good", localPath: "evil", text: "x" }]))).toContain("two different things");
  });
});

describe("a bomb is stopped while it goes off", () => {
  const zeros = Buffer.alloc(64 * 1024 * 1024);

  test("a tar of five files, each within the limit, together beyond it", async () => {
    const parts = Array.from({ length: 5 }, (_, index) => ({ path: `f${index}`, text: zeros }));
    expect(await unpack(gzipSync(makeTar(parts), { level: 1 }))).toBe("holds more than 256 MiB");
  });

  test("a zip file that says it is small", async () => {
    expect(await unpack(makeZip([{ path: "f", text: zeros, bytes: 100 }]))).toContain("wrong length or checksum");
    expect(statSync(join(dir, "out", "f")).size).toBe(0);
  });

  test("a zip whose entries share one content", async () => {
    const same = { path: "f", localPath: "f", text: "x".repeat(1000) };
    expect(await unpack(makeZip([same, same], true))).toContain("share bytes");
  });

  test("more entries than a plugin may have", async () => {
    const parts = Array.from({ length: 10_001 }, (_, index) => ({ path: `f${index}` }));
    expect(await unpack(gzipSync(makeTar(parts)))).toBe("holds more than 10000 entries");
  });

  test("headers that only say more, endless zeros behind the end", async () => {
    expect(await unpack(makeTar([{ path: "x", type: "x", text: "x".repeat(70_000) }]))).toContain("too large");
    const padded = gzipSync(Buffer.concat([makeTar([]), ...Array.from({ length: 6 }, () => zeros)]), { level: 1 });
    expect(await unpack(padded)).toBe("holds more than 320 MiB");
  });
});

describe("what is cut off or damaged is refused", () => {
  const tar = makeTar([{ path: "a", text: "a".repeat(2000) }, { path: "b" }]);
  const zip = makeZip([{ path: "a", text: "a".repeat(2000) }, { path: "b" }]);

  test("at every length", async () => {
    const packed = gzipSync(tar);
    for (const whole of [tar, packed, zip]) {
      for (let length = 512; length < whole.byteLength; length += 97) {
        const cut = whole.subarray(0, length);
        // A tar is whole from its second block of zeros on.
        if (sniffArchive(cut) !== undefined) expect(await unpack(cut)).not.toBe("done");
      }
    }
    expect(await unpack(packed.subarray(0, -6))).toMatch(/damaged/);
  });

  test("a wrong checksum: of a tar's header, of gzip, of a zip's file", async () => {
    const header = Buffer.from(tar);
    header[0] = 0x62;
    expect(await unpack(header)).toContain("wrong checksum");
    const packed = gzipSync(tar);
    packed[packed.byteLength - 6] = (packed[packed.byteLength - 6] ?? 0) ^ 1;
    expect(await unpack(packed)).toContain("damaged");
    expect(await unpack(makeZip([{ path: "a", text: "a", checksum: 1 }]))).toContain("wrong length or checksum");
  });

  test("something behind the end", async () => {
    expect(await unpack(Buffer.concat([tar, Buffer.from("more")]))).toContain("goes on behind its end");
  });

  test("whatever is changed: it is unpacked or refused, and nothing is written outside", async () => {
    const random = seeded(42);
    const plain = Buffer.from("plugin");
    const deflated = deflateRawSync(plain);
    expect(crc32(plain)).toBeGreaterThan(deflated.byteLength);
    const before = readdirSync(tmpdir()).length;
    for (let round = 0; round < 600; round++) {
      const whole = Buffer.from([tar, zip, gzipSync(tar)][round % 3] ?? tar);
      for (let change = 0; change < 1 + (round % 4); change++) {
        whole[Math.floor(random() * whole.byteLength)] = Math.floor(random() * 256);
      }
      if (sniffArchive(whole) !== undefined) expect(await unpack(whole)).toBeTypeOf("string");
      expect(readdirSync(dir).sort()).toEqual(["archive", "out"].filter((name) => existsSync(join(dir, name))));
    }
    expect(readdirSync(tmpdir()).length).toBeLessThan(before + 100);
  });
});

/** The same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
