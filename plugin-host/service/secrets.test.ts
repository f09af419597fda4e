import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSecrets, secretTexts } from "./secrets.ts";

let dir = "";
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), "clawd-secrets-")), "secrets");
});
afterEach(() => rmSync(join(dir, ".."), { recursive: true, force: true }));

test("secrets are there for their plugin alone, in a file for their owner alone, and are gone when they are taken out", async () => {
  const secrets = openSecrets(dir);
  await Promise.all([secrets.set("p", "a", "one"), secrets.set("p", "b", "two"), secrets.set("q", "a", "three")]);
  const again = openSecrets(dir);
  expect(await again.get("p", "a")).toEqual({ ok: true, value: "one" });
  expect(await again.get("p", "b")).toEqual({ ok: true, value: "two" });
  expect(await again.get("q", "b")).toEqual({ ok: true, value: undefined });
  for (const file of readdirSync(dir)) expect(statSync(join(dir, file)).mode & 0o777).toBe(0o600);
  await again.set("p", "a", "");
  expect(await again.get("p", "a")).toEqual({ ok: true, value: undefined });
  await again.clear("p");
  expect(readdirSync(dir)).toEqual(["q.json"]);
});

test("a plugin keeps no more than a few", async () => {
  const secrets = openSecrets(dir);
  for (let index = 0; index < 32; index += 1) await secrets.set("p", `k${index}`, "x");
  expect(await secrets.set("p", "more", "x")).toMatchObject({ ok: false, failure: { code: "exhausted" } });
  expect(await secrets.set("p", "k0", "x".repeat(65 * 1024))).toMatchObject({ ok: false });
  expect(await secrets.set("p", "", "x")).toMatchObject({ ok: false, failure: { code: "invalid" } });
});

test("of JSON every text whose name tells is hidden, too", () => {
  expect(secretTexts('{"access_token":"abc","scope":"read"}')).toEqual([
    '{"access_token":"abc","scope":"read"}',
    "abc",
  ]);
  expect(secretTexts("plain")).toEqual(["plain"]);
});
