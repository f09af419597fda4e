import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { quietDesk } from "../../core/domain/desk.ts";
import { ok } from "../../core/domain/failure.ts";
import { type Lab, openLab } from "../../plugin-host/fixtures/plugin-lab.ts";

const folder = import.meta.dirname;
/** The sandbox shows the system's own programs only. */
const hasPython = ["/usr/local/bin", "/usr/bin", "/bin"].some((dir) => existsSync(join(dir, "python3")));
if (!hasPython) console.warn("skipped: the tests of the Python example need a python3 in /usr/local/bin or /usr/bin");

describe.skipIf(!hasPython)("the plugin in Python", () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await openLab();
    expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true });
  });
  afterAll(() => lab.close());

  const count = (args: { text: string; pauseMs?: number }, more = {}) =>
    lab.call("plugin_python-stdlib_word_count", args, more);

  test("counts words, the most frequent first, whatever their letters", async () => {
    expect(await count({ text: "Grün, rot, grün; 日本 rot grün." })).toMatchObject({
      status: "done",
      output: expect.stringContaining("3 grün\n2 rot\n1 日本"),
    });
  });

  test("tells how far it is, and logs through its host", async () => {
    const lines: string[] = [];
    await count({ text: "word ".repeat(250) }, { progress: (line: string) => lines.push(line) });
    // The pieces of its output are shown, too.
    expect(lines).toEqual(["100 words", "200 words", "250 word"]);
    expect(lab.host.admin.log("python-stdlib")).toMatchObject({
      value: expect.arrayContaining([expect.stringContaining("counted 250 words")]),
    });
  });

  test("hides addresses in the output of tools", async () => {
    const [listener] = await lab.host.hooks.listeners("tool.after");
    if (listener === undefined) throw new Error("it does not listen");
    const value = { tool: "read", args: {}, status: "done", output: "write to ada.b+c@mail.example.com, or not" };
    const event = { at: "tool.after", sessionId: "s1", turnId: "t1", callId: "c1", workspace: lab.dir, value } as const;
    const context = { ...quietDesk(async () => ok(undefined)), signal: new AbortController().signal };
    const replied = await listener.ask(event, context);
    expect(replied.answer).toEqual({ do: "modify", value: { ...value, output: "write to [address], or not" } });
    const plain = await listener.ask({ ...event, value: { ...value, output: "nothing" } }, context);
    expect(plain.answer).toEqual({ do: "pass" });
  });

  test("stops when it is cancelled, and serves the next call", async () => {
    const abort = new AbortController();
    const text = "word ".repeat(5000);
    const outcome = await count({ text, pauseMs: 1000 }, { signal: abort.signal, progress: () => abort.abort() });
    expect(outcome).toMatchObject({ status: "failed", failure: { code: "cancelled" } });
    expect(await count({ text: "again" })).toMatchObject({
      status: "done",
      output: expect.stringContaining("1 again"),
    });
  });
});

const SOURCES = `import json
from clawd_plugin import Plugin
plugin = Plugin("lake", "1.0.0")
seen = []

@plugin.configure
def use(config):
    seen.append(config)

@plugin.method("MemorySourceService/ListDocuments")
def documents(request, call):
    yield {"documentId": "seen", "text": json.dumps(seen)}
    if request["source"] == "refused":
        call.host.call("Recall", {"query": "x"})
    raise ValueError("the lake is dry")

plugin.serve()
`;

describe.skipIf(!hasPython)("a plugin on the library", () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await openLab();
    const described = (name: string) => ({ name, description: "For tests." });
    const manifest = {
      ...{ manifestVersion: 1, name: "lake", version: "1.0.0", protocolMajors: [1] },
      launch: { command: ["python3", "main.py"] },
      memorySources: ["dry", "refused"].map(described),
    };
    const library = readFileSync(join(folder, "clawd_plugin.py"), "utf8");
    const author = lab.author(manifest, { "main.py": SOURCES, "clawd_plugin.py": library });
    expect(await lab.host.admin.install(author, true)).toMatchObject({ ok: true });
  });
  afterAll(() => lab.close());

  test.each([
    ["dry", "the lake is dry"],
    ["refused", "memory=read"],
  ])("has its settings before anything else, and fails in its author's words (%s)", async (name, words) => {
    const source = lab.host.sources().find((one) => one.name === `plugin:lake/${name}`);
    const documents: unknown[] = [];
    for await (const document of source?.documents(new AbortController().signal) ?? []) documents.push(document);
    expect(documents).toMatchObject([
      { ok: true, value: { id: "seen", text: "[{}]" } },
      // Said by it, so that nobody looks whether it is dying.
      { ok: false, failure: { message: expect.stringContaining(words), cause: { kind: "refused" } } },
    ]);
  });
});

test.skipIf(!hasPython)("started by hand it explains itself and ends with code 64", () => {
  const { status, stderr } = spawnSync("python3", [join(folder, "main.py")], {
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", PYTHONDONTWRITEBYTECODE: "1" },
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 64, stderr: expect.stringContaining("claw plugin install FOLDER") });
});
