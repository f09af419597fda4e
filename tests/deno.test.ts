import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bench, CLAW, openBench } from "./kit/claw.ts";
import {
  CORPUS_ENV,
  type CorpusScript,
  hasBubblewrap,
  openCorpusFolder,
  openCorpusParent,
  readCorpus,
  runIn,
  startCorpusServer,
  type Verdict,
  verdictOf,
} from "./kit/deno-corpus.ts";
import { shareOf } from "./kit/thoroughness.ts";

const ROOT = join(import.meta.dirname, "..");
const DENO = join(ROOT, "node_modules/.bin/deno");
/** Of this machine nothing may have a say: no config of a folder above, no lock file, no registry, no question. */
const DENO_FLAGS = [
  "run",
  "--no-prompt",
  "--no-config",
  "--no-lock",
  "--no-remote",
  "--no-npm",
  "--no-check",
  "--quiet",
];
const SCRIPTS = readCorpus();
const confined = hasBubblewrap();
if (!confined) console.log("skipped: scripts that run programs, because bubblewrap does not work here");

let bench: Bench;
let server: Awaited<ReturnType<typeof startCorpusServer>>;
let parent: string;
/** The lines of the list in docs/permissions.md by their mark. */
const documented = new Set(
  [...readFileSync(join(ROOT, "docs/permissions.md"), "utf8").matchAll(/^- \*\*(D\d+)\*\* /gm)].map(([, mark]) => mark),
);

beforeAll(async () => {
  parent = openCorpusParent();
  server = await startCorpusServer();
  bench = await openBench(CORPUS_ENV);
  await bench.claw("up");
});

afterAll(async () => {
  await bench.close();
  server.close();
  await rm(parent, { recursive: true, force: true });
});

function words(text: string): string[] {
  return [...text.replaceAll("{PORT}", String(server.port)).matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, a, b]) => a ?? b ?? "",
  );
}

async function runDeno({ name, flags, args, input }: CorpusScript): Promise<Verdict> {
  const folder = openCorpusFolder(name, parent);
  const env = { ...bench.env, DENO_DIR: join(parent, "deno"), DENO_NO_UPDATE_CHECK: "1" };
  const ran = await runIn(folder, DENO, [...DENO_FLAGS, ...words(flags), name, ...words(args)], env, input);
  return verdictOf(ran, folder);
}

async function runClaw({ name, flags, args, input }: CorpusScript): Promise<Verdict & { readonly said: string }> {
  const folder = openCorpusFolder(name, parent);
  const command = [CLAW, "run", ...words(flags), name, ...words(args)];
  const ran = await runIn(folder, process.execPath, command, bench.env, input);
  return { ...verdictOf(ran, folder), said: `${ran.stdout}${ran.stderr}`.replaceAll(folder, "FOLDER") };
}

// The npm package brings the program for the usual systems only.
const hasDeno = spawnSync(DENO, ["--version"], { env: { ...process.env, DENO_NO_UPDATE_CHECK: "1" } }).status === 0;
if (!hasDeno) console.log("skipped: every comparison, because there is no deno for this system");
// A kind is a line of the list of what is stricter, or what the names of scripts begin with.
const runnable = shareOf(
  "scripts of the corpus",
  SCRIPTS.filter(({ needsBubblewrap }) => hasDeno && (confined || !needsBubblewrap)),
  { oneIn: 4, kindOf: ({ name, stricter }) => stricter ?? name.split(/[-.]/, 1).join() },
);
const alike = runnable.filter(({ stricter, refused }) => stricter === undefined && !refused);
const stricter = runnable.filter(({ stricter }) => stricter !== undefined);
const refused = runnable.filter(({ refused }) => refused);

test.concurrent.each(alike)("$name does what it does under deno run", async (script) => {
  const [deno, { said, ...claw }] = await Promise.all([runDeno(script), runClaw(script)]);
  expect(claw, said).toEqual(deno);
});

test.concurrent.each(stricter)("$name is kept from what deno run lets it do, by $stricter", async (script) => {
  expect(documented).toContain(script.stricter);
  const [deno, { said, ...claw }] = await Promise.all([runDeno(script), runClaw(script)]);
  expect(said).toContain(words(`"${script.says}"`)[0]);
  expect(claw).not.toEqual(deno);
});

test.concurrent.each(refused)("$name is not even begun, as under deno run", async (script) => {
  const [deno, claw] = await Promise.all([runDeno(script), runClaw(script)]);
  expect([deno.stdout, claw.stdout]).toEqual(["", ""]);
  expect(deno.code).not.toBe(0);
  expect(claw.code, claw.said).toBe(2);
});

test("at least 300 scripts are compared, and every line of the list is held by one", () => {
  expect(SCRIPTS.length).toBeGreaterThanOrEqual(300);
  expect([...documented].sort()).toEqual([...new Set(SCRIPTS.flatMap(({ stricter }) => stricter ?? []))].sort());
});
