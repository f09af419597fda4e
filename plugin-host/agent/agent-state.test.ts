import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { certain } from "../fixtures/far-place.ts";
import { takeState } from "./agent-state.ts";

let dir: string;
let state: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "as-"));
  state = join(dir, "state");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("a state folder is one agent's, until it gives it back with everything of its own", async () => {
  const first = certain(await takeState(state, dir));
  expect(dirname(first.runtimeDir)).toBe(dir);
  expect(await takeState(state, dir)).toMatchObject({
    ok: false,
    failure: { code: "conflict", hint: expect.stringContaining("--state") },
  });
  expect(existsSync(first.runtimeDir)).toBe(true);
  first.release();
  expect(existsSync(first.runtimeDir)).toBe(false);
  certain(await takeState(state, dir)).release();
});

test("what a killed agent left is removed by the next, and nothing that no agent made", async () => {
  const left = join(dir, "clawd-agent-left");
  mkdirSync(join(left, "sockets"), { recursive: true });
  mkdirSync(state);
  writeFileSync(join(state, "runtime-dir"), `${left}\n`);
  certain(await takeState(state, dir)).release();
  expect(existsSync(left)).toBe(false);
  const mine = join(dir, "mine");
  mkdirSync(mine);
  for (const written of [mine, "clawd-agent-relative", "", "/"]) {
    writeFileSync(join(state, "runtime-dir"), written);
    certain(await takeState(state, dir)).release();
  }
  expect(existsSync(mine)).toBe(true);
});

test("a state folder that cannot be written is named", async () => {
  writeFileSync(state, "a file");
  expect(await takeState(state, dir)).toMatchObject({
    ok: false,
    failure: { code: "unavailable", message: expect.stringContaining(state) },
  });
});
