import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { FILE_LIMIT_BYTES, LANDLOCK_EXITS, LANDLOCK_PROGRAMS, landlockFile } from "./landlock-program.ts";
import { buildTable } from "./landlock-table.ts";

const work = mkdtempSync(join(tmpdir(), "clawd-landlock-"));
afterAll(() => rmSync(work, { recursive: true }));

const isHere = (program: string) => spawnSync(program, ["--version"]).status === 0;

/** Of binutils: Debian's `binutils-x86-64-linux-gnu` and `binutils-aarch64-linux-gnu`, on any processor. */
const TOOLS = [
  { architecture: "x64", prefix: "x86_64-linux-gnu-" },
  { architecture: "arm64", prefix: "aarch64-linux-gnu-" },
] as const;

for (const { architecture, prefix } of TOOLS) {
  const isMissing = !isHere(`${prefix}as`);
  if (isMissing) console.info(`skipped: no ${prefix}as, so the bytes for ${architecture} are not compared`);

  test.skipIf(isMissing)(`the bytes for ${architecture} are what their source assembles to, each of them`, () => {
    const [object, linked, bytes] = ["o", "elf", "bin"].map((end) => join(work, `${architecture}.${end}`)) as [
      string,
      string,
      string,
    ];
    execFileSync(`${prefix}as`, ["-o", object, join(import.meta.dirname, `walls-${architecture}.s`)]);
    execFileSync(`${prefix}ld`, ["-Ttext=0x400000", "-o", linked, object]);
    execFileSync(`${prefix}objcopy`, ["-O", "binary", "-j", ".text", linked, bytes]);
    // Where the source was changed on purpose, what is received belongs into landlock-program.ts.
    expect(readFileSync(bytes).toString("base64")).toBe(LANDLOCK_PROGRAMS[architecture]);
  });
}

const noEmulator = process.arch === "arm64" || !isHere("qemu-aarch64");
if (noEmulator) console.info("skipped: no qemu-aarch64, so the program for arm64 is not run");

test.skipIf(noEmulator)("the program for arm64 reads its table, and starts nothing where there is no Landlock", () => {
  const table = buildTable({ rules: [], isTcpShut: true, fileLimitBytes: undefined }, 7);
  const runWith = (bytes: Buffer) => {
    const file = join(work, "walls");
    writeFileSync(file, landlockFile("arm64", bytes), { mode: 0o755 });
    return spawnSync("qemu-aarch64", [file, "/bin/true"]).status;
  };
  expect(runWith(table.subarray(0, 40))).toBe(LANDLOCK_EXITS.badTable);
  // The emulator knows no such system calls.
  expect(runWith(table)).toBe(LANDLOCK_EXITS.noLandlock);
});

test("more than the program can map is refused by name", () => {
  const rule = (at: number) => ({ path: `/${"x".repeat(1000)}${at}`, isFolder: true, access: "read" }) as const;
  const rules = Array.from({ length: FILE_LIMIT_BYTES / 1000 + 1 }, (_, at) => rule(at));
  const table = buildTable({ rules, isTcpShut: false, fileLimitBytes: undefined }, 7);
  expect(() => landlockFile("x64", table)).toThrow(`and ${FILE_LIMIT_BYTES} are possible`);
});
