import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bench, openBench } from "./kit/claw.ts";

/*
 * What plugins offer beside tools and hooks, as a person meets it: real bins, a real daemon, real plugin processes.
 */

const EXAMPLES = join(import.meta.dirname, "../plugins-examples");
const COMMANDS = `import { servePlugin, slashCommand } from "clawd/plugin";
await servePlugin({
  name: "words",
  version: "1.0.0",
  slashCommands: [
    slashCommand({ name: "shout", run: ({ args }) => ({ say: args.toUpperCase() }) }),
    slashCommand({ name: "where", run: ({ workspace }) => ({ show: "you are in " + workspace }) }),
    slashCommand({ name: "crash", run: () => process.exit(9) }),
  ],
});
`;
const named = (...names: string[]) => names.map((name) => ({ name, description: "For tests." }));
const manifest = (name: string, more: object) =>
  JSON.stringify({
    manifestVersion: 1,
    name,
    version: "1.0.0",
    protocolMajors: [1],
    launch: { command: ["node", "main.ts"] },
    ...more,
  });

let bench: Bench;

async function install(name: string, more: object): Promise<void> {
  const folder = join(bench.workspace, name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "plugin.json"), manifest(name, more));
  await writeFile(join(folder, "main.ts"), COMMANDS);
  expect(await bench.claw("plugin", "install", folder, "--yes", "--trust")).toMatchObject({ code: 0 });
}

beforeAll(async () => {
  bench = await openBench();
  await writeFile(join(bench.workspace, "notes.md"), "three fish\n");
  const example = join(EXAMPLES, "echo-model");
  expect(await bench.claw("plugin", "install", example, "--yes", "--trust")).toMatchObject({ code: 0 });
  await install("words", { slashCommands: named("shout", "where", "crash") });
});
afterAll(() => bench.close());

test("a plugin's model answers, streams and calls tools like any other", async () => {
  const said = await bench.claw("say", "--model", "echo-model/x", "hello there");
  expect(said).toMatchObject({ code: 0, stdout: expect.stringContaining("x heard: hello there") });
  const read = await bench.claw("say", "--model", "echo-model", 'read {"path":"notes.md"}');
  expect(read).toMatchObject({ code: 0, stdout: expect.stringContaining("three fish") });
  const events = await bench.claw("say", "--json", "--model", "echo-model/x", "hi");
  expect(events.stdout).toContain('"model":"echo-model/x"');
});

test("a model provider that nobody offers any more is refused by name", async () => {
  expect(await bench.claw("plugin", "disable", "echo-model")).toMatchObject({ code: 0 });
  const said = await bench.claw("say", "--model", "echo-model/x", "hello");
  expect(said).toMatchObject({ code: 3, stderr: expect.stringContaining('no model provider "echo-model/x"') });
  expect(await bench.claw("plugin", "enable", "echo-model")).toMatchObject({ code: 0 });
});

test("what a command says is answered by the model, what it shows is printed, other words are said as they are", async () => {
  const said = await bench.claw("say", "--model", "echo-model/x", "/shout hello");
  expect(said).toMatchObject({ code: 0, stdout: expect.stringContaining("x heard: HELLO") });
  expect(await bench.claw("say", "/where am I")).toMatchObject({ code: 0, stdout: `you are in ${bench.workspace}\n` });
  expect(await bench.claw("say", "--json", "/where")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(JSON.stringify({ shown: `you are in ${bench.workspace}` })),
  });
  const plain = await bench.claw("say", "--model", "echo-model/x", "/nowhere at all");
  expect(plain).toMatchObject({ code: 0, stdout: expect.stringContaining("x heard: /nowhere at all") });
});

test("a command whose plugin dies refuses the message, says why, and nothing was said", async () => {
  const said = await bench.claw("say", "/crash now");
  expect(said.code).toBe(1);
  expect(said.stderr).toMatch(/plugin "words" ended with code 9 while it was asked for command "\/crash"/);
  expect(await bench.claw("say", "--model", "echo-model/x", "still here")).toMatchObject({ code: 0 });
});

test("of two plugins with one command the first by name has it, and the list tells of the other", async () => {
  await install("more-words", { slashCommands: named("where") });
  await install("other", { slashCommands: named("where") });
  const { stdout } = await bench.claw("plugin", "list", "--json");
  const rows = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const warnings = Object.fromEntries(rows.map((row) => [row.name, row.warnings]));
  expect(warnings).toMatchObject({
    "more-words": [],
    other: ['its command "/where" is not used: plugin "more-words" has it, too'],
    words: ['its command "/where" is not used: plugin "more-words" has it, too'],
  });
});

test("a plugin cannot take the name of a provider of clawd itself", async () => {
  const folder = join(bench.workspace, "thief");
  await mkdir(folder, { recursive: true });
  const stolen = { modelProviders: [{ name: "anthropic", defaultModel: "x" }] };
  await writeFile(join(folder, "plugin.json"), manifest("thief", stolen));
  await writeFile(join(folder, "main.ts"), COMMANDS);
  const installed = await bench.claw("plugin", "install", folder, "--yes", "--trust");
  expect(installed.code).not.toBe(0);
  expect(installed.stderr).toContain('"anthropic" is a provider of clawd itself');
});
