import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Desk, quietDesk } from "../../core/domain/desk.ts";
import { ok } from "../../core/domain/failure.ts";
import { blocksOf, collect, READ_NOTES, userSays } from "../../tests/contracts/provider.ts";
import { findPythonHome, SDK_FOLDER, vendorInto } from "../../tests/kit/python-home.ts";
import { closeLab, type Lab, NOTHING_LEFT, openLab } from "../fixtures/plugin-lab.ts";

const here = import.meta.dirname;
const home = findPythonHome(process.env);
if (!home.ready) console.warn(`skipped: the library for Python: ${home.missing}`);

test("the generated code is that of today's protos; generate.py writes it anew", () => {
  const whole = createHash("sha256");
  for (const path of ["v1/host", "v1/manifest", "v1/plugin", "v2/plugin"]) {
    const lines = readFileSync(join(here, `../../proto/clawd/plugin/${path}.proto`), "utf8").split("\n");
    // Words about the protos change no code.
    whole.update(lines.filter((line) => !line.trim().startsWith("//")).join("\n"));
  }
  expect(readFileSync(join(here, "clawd_plugin/gen/digest.txt"), "utf8").trim()).toBe(whole.digest("hex"));
});

const python = (args: readonly string[], cwd: string, more: Readonly<Record<string, string>> = {}) =>
  spawnSync(home.ready ? home.python : "python3", args, {
    cwd,
    env: {
      ...{ PATH: "/usr/bin:/bin", LANG: "C.UTF-8", PYTHONDONTWRITEBYTECODE: "1" },
      PYTHONPATH: [...(home.ready ? home.packages : []), SDK_FOLDER].join(":"),
      ...more,
    },
    encoding: "utf8",
  });

describe.skipIf(!home.ready)("the library for Python", () => {
  let lab: Lab;
  let folder: string;
  const live = () => new AbortController().signal;
  const quiet = () => quietDesk(async () => ok(undefined));
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "everything-"));
    cpSync(join(here, "tests/everything.py"), join(folder, "main.py"));
    const written = python(["main.py", "--manifest"], folder);
    expect(written).toMatchObject({ status: 0, stdout: expect.stringContaining("wrote ") });
    if (home.ready) vendorInto(folder, home.packages);
    lab = await openLab();
    expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true });
  });
  afterAll(async () => {
    expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
    rmSync(folder, { recursive: true, force: true });
  });
  const call = (tool: string, args: JsonObject = {}, more = {}) =>
    lab.call(`plugin_everything_${tool}`, args, more) as Promise<{ status: string; output: string }>;
  const read = async (tool: string, args: JsonObject, more = {}) => {
    const { status, output } = await call(tool, args, more);
    return status === "done" ? JSON.parse(output) : output;
  };

  test("passes its own tests", () => {
    const { status, stdout, stderr } = python(["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"], here);
    expect({ status, said: stdout + stderr }).toMatchObject({ status: 0, said: expect.stringContaining("passed") });
  });

  test("writes a manifest once, and says that it is up to date", () => {
    expect(python(["main.py", "--manifest"], folder).stdout).toContain("is up to date");
    const { tools } = JSON.parse(readFileSync(join(folder, "plugin.json"), "utf8"));
    expect(tools[0]).toMatchObject({
      name: "typed",
      description: "Gives back what it was given, as its types have it.\nTwice, if you like.",
      inputSchema: { required: ["color", "points"], additionalProperties: false },
      rerunSafe: true,
      timeoutMs: 20_000,
    });
  });

  test("started by hand it explains itself and ends with code 64", () => {
    expect(python(["main.py"], folder)).toMatchObject({
      status: 64,
      stderr: expect.stringContaining("claw plugin install FOLDER"),
    });
  });

  test("a tool gets its arguments as its type hints say, and gives back what JSON can say", async () => {
    const args = { color: "red", points: [{ x: 1 }, { x: 2.5, y: 3 }], weights: { a: 1 } };
    expect(await read("typed", args)).toEqual({
      color: "red",
      points: [
        { x: 1, y: 0 },
        { x: 2.5, y: 3 },
      ],
      size: "s",
      label: null,
      weights: { a: 1 },
    });
  });

  test("a result has parts; what is no result fails in words, and half a character harms nobody", async () => {
    const { output } = await call("parts", { what: "several" });
    expect(output).toContain("see:");
    expect(output).toContain('{"found":[1,2.5]}');
    expect(await read("parts", { what: "list" })).toEqual([1, 2]);
    expect(await read("parts", { what: "number" })).toBe(5);
    expect(await call("parts", { what: "half" })).toMatchObject({ status: "done", output: "?" });
    expect(await call("parts", { what: "odd" })).toMatchObject({
      status: "failed",
      output: expect.stringContaining("nothing that JSON can say"),
    });
    expect(await call("parts", { what: "nan" })).toMatchObject({ status: "failed" });
    expect(await call("parts", { what: "missing" })).toMatchObject({
      status: "failed",
      failure: { code: "not_found", hint: "ask for 1 to 6" },
    });
  });

  test("generators are output, in threads and on the loop", async () => {
    const lines: string[] = [];
    const progress = (line: string) => lines.push(line);
    const expected = Array.from({ length: 50 }, (_, at) => `${at} żółć\n`).join("");
    expect((await call("pieces", { to: 50 })).output).toContain(expected.trim());
    expect((await call("async_pieces", { to: 50 }, { progress })).output).toContain(expected.trim());
    expect(lines[0]).toBe("0 comes");
  });

  test("a tool that wants to leave fails alone", async () => {
    expect(await call("leave", { how: "exit" })).toMatchObject({
      status: "failed",
      output: expect.stringContaining("sys.exit"),
    });
    expect(await call("leave", { how: "stop" })).toMatchObject({
      status: "failed",
      output: expect.stringContaining("StopIteration"),
    });
    expect(await read("parts", { what: "number" })).toBe(5);
  });

  test("the host keeps values and artifacts, asks the person and calls tools, for both kinds of functions", async () => {
    expect(await read("use", { what: "values" })).toEqual([{ deep: [1, null, "żółć"] }, null, ["a/1"], "gone"]);
    expect(await read("async_use", { what: "values" })).toEqual([1, ["b", "c"]]);
    expect(await read("use", { what: "artifact" })).toEqual([true, "end", 2_621_443]);
    expect(await read("async_use", { what: "artifact" })).toBe(0);
    expect(await read("use", { what: "ask" })).toEqual([null]);
    const desk: Desk = { ...quiet(), confirm: async () => ({ said: "yes", scope: "once" }) };
    expect(await read("use", { what: "ask" }, { desk })).toEqual([true]);
    expect((await call("use", { what: "call" })).output).toContain("tool=read");
    expect(await call("async_use", { what: "refused" })).toMatchObject({ output: "PERMISSION_DENIED" });
    expect(await read("use", { what: "facts" })).toEqual(["Ulm", 1, [], null, lab.dir, false]);
    // What it writes comes by another way than what it answers.
    await vi.waitFor(() =>
      expect(lab.host.admin.log("everything")).toMatchObject({
        value: expect.arrayContaining([expect.stringContaining("a line of its own")]),
      }),
    );
  });

  test("hooks answer, and one that is wrong fails alone", async () => {
    const hear = async (at: "tool.before" | "tool.after", tool: string, more = {}) => {
      const [listener] = await lab.host.hooks.listeners(at);
      const value = { tool, args: {}, ...more };
      const event = { at, sessionId: "s1", turnId: "t1", callId: "c1", workspace: lab.dir, value } as const;
      return (await listener?.ask(event, { ...quiet(), signal: live() }))?.answer;
    };
    expect(await hear("tool.before", "stop")).toEqual({ do: "block", because: "not here" });
    expect(await hear("tool.before", "know")).toMatchObject({ do: "answer" });
    expect(await hear("tool.before", "read")).toEqual({ do: "pass" });
    for (const tool of ["wrong", "circle"]) expect(await hear("tool.before", tool)).not.toEqual({ do: "pass" });
    expect(await hear("tool.after", "read", { status: "done", output: "it" })).toMatchObject({
      do: "modify",
      value: { output: "IT" },
    });
  });

  test("a model answers with thoughts, words, calls and an end, or fails in its own words", async () => {
    const [parrot] = lab.host.models();
    if (parrot === undefined) throw new Error("no provider is offered");
    const says = (text: string) => ({ ...READ_NOTES, model: "", messages: [userSays(text)] });
    expect(blocksOf(await collect(parrot, says("hi")))).toMatchObject([
      { kind: "thinking", text: "hm" },
      { kind: "text", text: "grey says hi" },
    ]);
    const called = await collect(parrot, says("call"));
    expect(blocksOf(called).at(-1)).toMatchObject({ kind: "toolCall", tool: "read", args: { path: "notes.md" } });
    expect(called.at(-1)).toMatchObject({ kind: "end" });
    expect((await collect(parrot, says("fail"))).at(-1)).toMatchObject({
      kind: "failed",
      failure: { code: "unavailable", message: expect.stringContaining("no quota") },
    });
  });

  test("an embedder, a source of documents and slash commands serve", async () => {
    const vectors = await lab.host.embedders()[0]?.embedder.embed(["a", "bcd"], "query", live());
    expect(vectors).toMatchObject({ ok: true, value: [new Float32Array([1, 1, 0.5]), new Float32Array([3, 1, 0.5])] });
    const documents: unknown[] = [];
    for await (const one of lab.host.sources()[0]?.documents(live()) ?? []) documents.push(one);
    expect(documents).toMatchObject([
      ok({ id: "1", title: "Trout", text: "a trout" }),
      ok({ id: "2", title: "", text: "Ulm" }),
      { ok: false, failure: { message: expect.stringContaining("the lake is dry"), cause: { kind: "refused" } } },
    ]);
    const run = (name: string, args = "") =>
      lab.host
        .commands()
        .find((one) => one.name === name)
        ?.run({ args, sessionId: "s1", workspace: "/work", desk: quiet() }, live());
    expect(await run("shout", "it is late")).toEqual(ok({ do: "say", text: "IT IS LATE" }));
    expect(await run("where")).toEqual(ok({ do: "show", text: "s1 in /work" }));
  });

  test("settings that its dataclass refuses keep it from starting, in its words", async () => {
    await lab.reopen({ settings: async () => ok({ depth: 10 }) });
    expect(await call("parts", { what: "number" })).toMatchObject({
      status: "failed",
      output: expect.stringContaining("nobody can look that deep"),
    });
    await lab.reopen({ settings: async () => ok({ city: "Bonn" }) });
    expect((await read("use", { what: "facts" }))[0]).toBe("Bonn");
  });
});
