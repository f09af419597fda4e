import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HOOK_POINTS } from "../../core/domain/hook.ts";

const TYPES = join(import.meta.dirname, "types/hooks.d.ts");
const COMPILER = join(import.meta.dirname, "../../node_modules/typescript/bin/tsc");

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "clawd-types-"));
  await copyFile(TYPES, join(folder, "hooks.d.ts"));
});
afterAll(() => rm(folder, { recursive: true }));

/** What the compiler complains about, with the settings of an editor that has no tsconfig beside the hooks. */
async function complaints(files: Readonly<Record<string, string>>): Promise<string> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const flags =
    "--noEmit --strict --target esnext --module esnext --moduleResolution bundler --allowImportingTsExtensions";
  const names = Object.keys(files).map((name) => join(folder, name));
  // Not --skipLibCheck: the types themselves are looked at too.
  const ran = promisify(execFile)(process.execPath, [COMPILER, ...flags.split(" "), "--types", "", ...names], {
    cwd: folder,
  });
  return ran.then(
    () => "",
    (failed: { stdout: string }) => failed.stdout,
  );
}

/** What a hook of each point can do; the compiler finds an error where one is expected, and nowhere else. */
const BODIES: Readonly<Record<(typeof HOOK_POINTS)[number], string>> = {
  "session.created": "if (event.value.model === 'x') return { block: 'no' };",
  "session.closed": "clawd.log(event.value.reason);",
  "message.received": "return { modify: { text: event.value.text.trim() } };",
  "context.build": "return { modify: { ...event.value, context: 'be kind' } };",
  "model.before": "return event.value.step > 3 ? { block: 'enough' } : { modify: { ...event.value, system: '' } };",
  "model.after":
    "for (const { tool, args } of event.value.calls) clawd.log(tool, args); return { modify: { ...event.value, text: '' } };",
  "step.before": "if (event.value.step > 5) return { block: 'too many steps' };",
  "step.after": "await clawd.store.set('last', event.value.calls);",
  "tool.before":
    "if (event.value.args.path === 'x') return { answer: { ok: true } }; return { modify: { ...event.value, args: {} } };",
  "tool.after": "return event.value.status === 'ok' ? { pass: true } : { modify: { ...event.value, output: '' } };",
  "turn.ended": "await clawd.memory.remember(event.value.text);",
  "approval.asked": "if (event.value.permission !== '') return { block: 'never' };",
  "compact.before": "return { skip: true };",
  "compact.after": "return null;",
  "subagent.started": "return { modify: { ...event.value } };",
  "subagent.ended": "return;",
  "config.reloaded": "clawd.log(event.value);",
};

test("hooks of every point have the values and the answers of that point", async () => {
  const files: Record<string, string> = {};
  for (const point of HOOK_POINTS) {
    files[`${point}.ts`] =
      `import type { Hook } from "./hooks.d.ts";\n` +
      `export default (async (event, clawd) => { const at: "${point}" = event.at; clawd.log(at); ${BODIES[point]} }) satisfies Hook<"${point}">;\n`;
  }
  expect(await complaints(files)).toBe("");
});

test("one hook of several points tells them apart by where it is", async () => {
  const text = `import type { Clawd, HookAnswer, HookEvent } from "./hooks.d.ts";
    export default async function (event: HookEvent, clawd: Clawd): Promise<HookAnswer> {
      switch (event.at) {
        case "tool.before": return event.value.tool === "shell" ? { block: event.callId } : { pass: true };
        case "message.received": return { modify: { text: event.value.text } };
        case "custom.build": return { block: String(event.value.anything) };
        default: clawd.log(event.sessionId, event.turnId, event.workspace);
      }
    }`;
  expect(await complaints({ "many.ts": text })).toBe("");
});

test("Deno and the web are there, with a reference as well as with an import", async () => {
  const text = `/// <reference path="./hooks.d.ts" />
    const text: string = await Deno.readTextFile("./rules.txt").catch((error) => {
      if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable) return "";
      throw error;
    });
    for await (const { name, isFile } of Deno.readDir(".")) console.log(name, isFile, (await Deno.stat(name)).mtime?.getTime());
    const { stdout, code } = await new Deno.Command("git", { args: ["status"], env: { LANG: "C" } }).output();
    const status = await Deno.permissions.request({ name: "net", host: "example.com" });
    status.onchange = () => console.log(status.state, status.partial);
    const reply = await fetch(new URL("https://example.com"), { signal: AbortSignal.timeout(1000) });
    Deno.env.set("A", Deno.env.get("HOME") ?? "");
    console.log(text, new TextDecoder().decode(stdout), code, await reply.json(), crypto.randomUUID(), import.meta.main);
    Deno.exitCode = 2;
    export {};`;
  expect(await complaints({ "world.ts": text })).toBe("");
});

test("a wrong answer and a wrong value are errors", async () => {
  const text = `import type { Hook } from "./hooks.d.ts";
    // @ts-expect-error: a session that closes cannot be stopped
    export const a = (async () => ({ block: "no" })) satisfies Hook<"session.closed">;
    // @ts-expect-error: a modify is the whole value
    export const b = (async () => ({ modify: { system: "" } })) satisfies Hook<"model.before">;
    // @ts-expect-error: there is no such value
    export const c = (async (event) => ({ block: event.value.txet })) satisfies Hook<"message.received">;
    // @ts-expect-error: no hook answers in a person's place
    export const d = (async () => ({ answer: true })) satisfies Hook<"approval.asked">;
    // @ts-expect-error: there is no such point
    export const e: Hook<"tool.befor"> = async () => {};
    // @ts-expect-error: there is nothing synchronous
    Deno.readTextFileSync("x");`;
  expect(await complaints({ "wrong.ts": text })).toBe("");
});
