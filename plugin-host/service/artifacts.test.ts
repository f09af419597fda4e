import { randomBytes } from "node:crypto";
import {
  existsSync,
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
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Artifacts, openArtifacts } from "./artifacts.ts";

const MIB = 1024 * 1024;
let dir = "";
let artifacts: Artifacts;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "clawd-artifacts-"));
  artifacts = openArtifacts(join(dir, "artifacts"), randomBytes);
});
afterEach(() => rmSync(dir, { recursive: true }));

const begin = (text: string | Uint8Array, plugin = "a") =>
  artifacts.write(plugin, { artifactId: "", data: Buffer.from(text), mimeType: "text/plain" });
const add = (artifactId: string, data: Uint8Array, plugin = "a") =>
  artifacts.write(plugin, { artifactId, data, mimeType: "" });

async function begun(text: string | Uint8Array): Promise<string> {
  const written = await begin(text);
  if (!written.ok) throw new Error(written.failure.message);
  return written.value.artifactId;
}

test("bytes are added at its end and read from anywhere, also after a restart", async () => {
  const id = await begun("one ");
  expect(await add(id, Buffer.from("two"))).toEqual({ ok: true, value: { artifactId: id, sizeBytes: 7 } });
  artifacts = openArtifacts(join(dir, "artifacts"), randomBytes);
  expect(await add(id, Buffer.from("!"))).toMatchObject({ ok: true, value: { sizeBytes: 8 } });
  expect(await artifacts.read("a", id, 4, 3)).toEqual({ ok: true, value: new Uint8Array(Buffer.from("two")) });
  expect(await artifacts.read("a", id, 4, 0)).toMatchObject({ ok: true, value: { length: 4 } });
  expect(await artifacts.read("a", id, 8, 0)).toMatchObject({ ok: true, value: { length: 0 } });
  expect(await artifacts.read("a", id, 9e15, 0)).toMatchObject({ ok: true, value: { length: 0 } });
});

test("only its owner may read the files, and what it is stands beside it", async () => {
  const id = await begun("x");
  const folder = join(dir, "artifacts", "a");
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o600, 0o600]);
  expect(readFileSync(join(folder, `${id}.mime`), "utf8")).toBe("text/plain");
});

test("an id that is none, or another plugin's, names nothing", async () => {
  const id = await begun("secret");
  writeFileSync(join(dir, "loot"), "loot");
  const ids = [
    "../../loot",
    "..",
    ".",
    "/etc/passwd",
    `${id}.mime`,
    `${id}/`,
    `./${id}`,
    `${id}\0`,
    id.toUpperCase(),
    " ",
  ];
  for (const bad of ids.filter((one) => one !== id)) {
    expect(await artifacts.read("a", bad, 0, 0)).toMatchObject({ failure: { code: "not_found" } });
    expect(await add(bad, Buffer.from("x"))).toMatchObject({ failure: { code: "not_found" } });
  }
  expect(await artifacts.read("b", id, 0, 0)).toMatchObject({ failure: { code: "not_found" } });
  expect(await add(id, Buffer.from("x"), "b")).toMatchObject({ failure: { code: "not_found" } });
  for (const offset of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
    expect(await artifacts.read("a", id, offset, 0)).toMatchObject({ failure: { code: "invalid" } });
  expect(readFileSync(join(dir, "loot"), "utf8")).toBe("loot");
});

test("a link in its place is not followed", async () => {
  const id = await begun("x");
  const file = join(dir, "artifacts", "a", id);
  writeFileSync(join(dir, "loot"), "loot");
  rmSync(file);
  symlinkSync(join(dir, "loot"), file);
  expect(await artifacts.read("a", id, 0, 0)).toMatchObject({ failure: { code: "unavailable" } });
  expect(await add(id, Buffer.from("spoilt"))).toMatchObject({ failure: { code: "unavailable" } });
  expect(readFileSync(join(dir, "loot"), "utf8")).toBe("loot");
});

test("a piece, a type and an artifact have their limits", async () => {
  expect(await begin(Buffer.alloc(MIB + 1))).toMatchObject({ failure: { code: "exhausted" } });
  for (const mimeType of ["x", "a/b\n", "text/../x", `a/${"b".repeat(100)}`])
    expect(await artifacts.write("a", { artifactId: "", data: Buffer.from("x"), mimeType })).toMatchObject({
      failure: { code: "invalid" },
    });
  expect(existsSync(join(dir, "artifacts"))).toBe(false);
  const id = await begun(Buffer.alloc(MIB));
  for (let pieces = 1; pieces < 64; pieces++) expect(await add(id, Buffer.alloc(MIB))).toMatchObject({ ok: true });
  expect(await add(id, Buffer.from("x"))).toMatchObject({ failure: { code: "exhausted" } });
  expect(await artifacts.read("a", id, 64 * MIB - 1, 0)).toMatchObject({ ok: true, value: { length: 1 } });
});

test("beyond the most of one plugin, the one goes that was not written for the longest time", async () => {
  const [first, second] = [await begun("first"), await begun("second")];
  expect(await begin("other", "b")).toMatchObject({ ok: true });
  for (let count = 2; count < 256; count++) await begun("x");
  await add(first, Buffer.from(" again"));
  await begun("one more");
  expect(await artifacts.read("a", first, 0, 0)).toMatchObject({ ok: true, value: { length: 11 } });
  expect(await artifacts.read("a", second, 0, 0)).toMatchObject({ failure: { code: "not_found" } });
  expect(readdirSync(join(dir, "artifacts", "a"))).toHaveLength(512);
  expect(readdirSync(join(dir, "artifacts", "b"))).toHaveLength(2);
});

test("what many write at once arrives whole, and goes with the plugin", async () => {
  const id = await begun("");
  const pieces = Array.from({ length: 50 }, (_, index) => add(id, Buffer.alloc(1000, index)));
  expect((await Promise.all(pieces)).every(({ ok }) => ok)).toBe(true);
  expect(await artifacts.read("a", id, 0, 0)).toMatchObject({ ok: true, value: { length: 50_000 } });
  expect(await artifacts.clear("a")).toEqual({ ok: true, value: undefined });
  expect(await artifacts.read("a", id, 0, 0)).toMatchObject({ failure: { code: "not_found" } });
  expect(readdirSync(join(dir, "artifacts"))).toEqual([]);
});

test("a first piece that cannot be written leaves nothing behind, and what is left of an earlier one goes", async () => {
  const folder = join(dir, "artifacts", "a");
  const kept = await begun("kept");
  writeFileSync(join(folder, `${"e".repeat(32)}.mime`), "text/plain");
  const id = "f".repeat(32);
  const unlucky = openArtifacts(join(dir, "artifacts"), () => Buffer.from(id, "hex"));
  expect(await unlucky.describe("a", kept)).toMatchObject({ ok: true });
  symlinkSync(join(dir, "nowhere"), join(folder, id));
  const write = () => unlucky.write("a", { artifactId: "", data: Buffer.from("x"), mimeType: "text/plain" });
  expect(await write()).toMatchObject({ failure: { code: "unavailable" } });
  expect(readdirSync(folder).toSorted()).toEqual([kept, `${kept}.mime`].toSorted());
  expect(await write()).toMatchObject({ ok: true, value: { artifactId: id, sizeBytes: 1 } });
});

test("what an artifact is can be asked, by its plugin alone", async () => {
  const id = await begun("one");
  await add(id, Buffer.from(" two"));
  expect(await artifacts.describe("a", id)).toEqual({ ok: true, value: { mimeType: "text/plain", sizeBytes: 7 } });
  for (const [plugin, asked] of [
    ["b", id],
    ["a", "../a"],
    ["a", `${id}.mime`],
    ["a", ""],
  ] as const) {
    expect(await artifacts.describe(plugin, asked)).toMatchObject({ ok: false, failure: { code: "not_found" } });
  }
});
