import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Desk, quietDesk } from "../../core/domain/desk.ts";
import { ok } from "../../core/domain/failure.ts";
import { bundleFixture, closeLab, type Lab, manifestOf, NOTHING_LEFT, openLab } from "../fixtures/plugin-lab.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
  const named = (...names: string[]) => names.map((name) => ({ name, description: "For tests." }));
  const manifest = manifestOf("library", {
    hooks: [{ at: "tool.before" }],
    memorySources: named("fish", "dry"),
    slashCommands: named("shout", "where", "sure", "fail"),
  });
  const folder = lab.author(manifest, { "main.mjs": await bundleFixture("library-user.ts") });
  expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true });
});
afterAll(async () => {
  expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
});

const live = () => new AbortController().signal;
const quiet = () => quietDesk(async () => ok(undefined));

describe("slash commands", () => {
  const run = (name: string, args = "", desk: Desk = quiet()) => {
    const command = lab.host.commands().find((one) => one.name === name);
    if (command === undefined) throw new Error(`there is no /${name}`);
    return command.run({ args, sessionId: "s1", workspace: "/work", desk }, live());
  };

  test("one says something in the message's place, another shows something", async () => {
    expect(await run("shout", "it is late")).toEqual(ok({ do: "say", text: "IT IS LATE" }));
    expect(await run("where")).toEqual(ok({ do: "show", text: "s1 in /work" }));
  });

  test("one may ask the person meanwhile", async () => {
    const asked: unknown[] = [];
    const desk: Desk = {
      ...quiet(),
      confirm: async (...question) => {
        asked.push(question);
        return { said: "yes", scope: "once" };
      },
    };
    expect(await run("sure", "all of it", desk)).toMatchObject({
      value: { do: "show", text: JSON.stringify({ yes: true, answered: true }) },
    });
    expect(asked).toEqual([["plugin:library", "all of it?", undefined]]);
  });

  test("one that fails says so in its author's words", async () => {
    expect(await run("fail")).toMatchObject({
      ok: false,
      // Said by it, so that nobody looks whether it is dying.
      failure: { message: expect.stringContaining("no such fish"), cause: { kind: "refused" } },
    });
  });
});

describe("memory sources", () => {
  const read = async (name: string) => {
    const source = lab.host.sources().find((one) => one.name === name);
    const documents: unknown[] = [];
    for await (const document of source?.documents(live()) ?? []) documents.push(document);
    return documents;
  };

  test("all documents come, in their order, with a title where there is one", async () => {
    expect(await read("plugin:library/fish")).toEqual([
      ok({ id: "1", title: "Trout", text: "a trout" }),
      ok({ id: "2", title: "", text: "{}" }),
    ]);
  });

  test("a source that fails says so in its author's words", async () => {
    expect(await read("plugin:library/dry")).toMatchObject([
      { ok: false, failure: { message: expect.stringContaining("the lake is dry"), cause: { kind: "refused" } } },
    ]);
  });
});

test("a tool is told the folder that its conversation works in", async () => {
  expect(await lab.call("plugin_library_act", { what: "where" })).toMatchObject({ status: "done", output: lab.dir });
});

describe("what an author gets wrong", () => {
  test.each([
    ["number", "gave back 5, which is no result"],
    ["nothing", "gave back null, which is no result"],
    ["object", 'gave back {"text":"so"}, which is no result'],
    ["pieces", "a piece of output is text or bytes, not number"],
  ])("a tool that gives back a %s fails and says what a result is", async (what, words) => {
    expect(await lab.call("plugin_library_act", { what })).toMatchObject({
      status: "failed",
      output: expect.stringContaining(words),
    });
  });

  test.each(["circle", "function", "thrown"])(
    "a hook whose answer no message can hold (a %s) fails that one event, and no other on its stream",
    async (tool) => {
      const [listener] = await lab.host.hooks.listeners("tool.before");
      const hear = (name: string) => {
        const value = { tool: name, args: {} };
        const event = {
          at: "tool.before",
          sessionId: "s1",
          turnId: "t1",
          callId: "c1",
          workspace: lab.dir,
          value,
        } as const;
        return listener?.ask(event, { ...quiet(), signal: live() });
      };
      const [slow, wrong] = await Promise.all([hear("slow"), hear(tool)]);
      expect(slow?.answer).toEqual({ do: "block", because: "at last" });
      expect(wrong?.because).toMatch(/failed: hook "plugin:library"/);
      expect(wrong?.because).not.toContain("broke off");
    },
  );

  test("a hook that puts no object in the place of a value has failed, and the events beside it are answered", async () => {
    const [listener] = await lab.host.hooks.listeners("tool.before");
    const hear = (tool: string) => {
      const at = "tool.before" as const;
      const event = { at, sessionId: "s1", turnId: "t1", callId: "c1", workspace: lab.dir, value: { tool, args: {} } };
      return listener?.ask(event, { ...quiet(), signal: live() });
    };
    const [slow, wrong] = await Promise.all([hear("slow"), hear("quick")]);
    expect(slow?.answer).toEqual({ do: "block", because: "at last" });
    expect(wrong?.because).toContain('failed: hook "plugin:library" gave a modify without "tool"');
  });
});
