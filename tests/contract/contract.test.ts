import { toJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  closeLab,
  type FolderFiles,
  type Lab,
  manifestOf,
  NOTHING_LEFT,
  openLab,
} from "../../plugin-host/fixtures/plugin-lab.ts";
import type { LinkError, ToolNews } from "../../plugin-host/link/plugin-link.ts";
import { memoryHit } from "../kit/memory-hit.ts";
import { shareOf } from "../kit/thoroughness.ts";
import { CONTRACT_PLUGINS, TOOLS } from "./contract-plugin.ts";
import { PLACES, SANDBOX } from "./places.ts";
import { hearAll, type PluginRig, startRig } from "./plugin-rig.ts";

const NEVER = new AbortController().signal;
const MIB = 1024 * 1024;
/** Of a first build in a language that is compiled, on a busy machine. */
const BUILD_TIMEOUT_MS = 600_000;
const FACTS = { hostVersion: "0.0.0-test", granted: [] };

const textOf = (news: readonly ToolNews[]) =>
  news
    .flatMap((one) => (one.kind === "result" ? one.result.parts : []))
    .map((part) => ("text" in part ? part.text : ""));
const outputOf = (news: readonly ToolNews[]) =>
  Buffer.concat(news.flatMap((one) => (one.kind === "output" ? [one.data] : []))).toString();

const ALL_PLACED = CONTRACT_PLUGINS.flatMap((plugin) => PLACES.map((place) => ({ ...plugin, place })));
/** Each plugin in the sandbox, and the first in every other place as well, when not all are asked for. */
const PLACED_PLUGINS = shareOf("plugins of the contract, each in each place", ALL_PLACED, {
  oneIn: ALL_PLACED.length,
  kindOf: ({ title, place }) => (place === SANDBOX ? title : place.title),
});

describe.each(PLACED_PLUGINS)(
  "a plugin on $title, $place.title",
  ({ title, command, slowly, files, readable = [], major, wire, missing, place }) => {
    if (missing !== undefined) {
      if (place === SANDBOX) process.stderr.write(`skipped: a plugin on ${title}: ${missing}\n`);
      test.skip("keeps the contract", () => {});
      return;
    }
    let program: FolderFiles;
    /** For the one test that changes or ends it. */
    let own: PluginRig | undefined;
    /** For all tests that leave it as it was. */
    let shared: PluginRig | undefined;
    beforeAll(async () => {
      program = await files();
    }, BUILD_TIMEOUT_MS);
    afterEach(async ({ task }) => {
      await own?.close();
      own = undefined;
      // What has failed may have left it in any state.
      if (task.result?.state === "fail") await endShared();
    });
    afterAll(() => endShared());
    const endShared = async () => {
      await shared?.close();
      shared = undefined;
    };
    const startUp = async (change: Parameters<typeof startRig>[2] = {}): Promise<PluginRig> => {
      const rig = await startRig(command, program, { readable, place, ...change });
      if (rig.hello.ok) await rig.link.initialize(FACTS, NEVER);
      return rig;
    };
    const start = async (change?: Parameters<typeof startRig>[2]): Promise<PluginRig> => {
      own = await startUp(change);
      return own;
    };
    const share = async (): Promise<PluginRig> => {
      shared ??= await startUp();
      return shared;
    };
    /** Waits until it has written a line once more than it had when this was called. */
    const nextLine = ({ lines }: PluginRig, line: string) => {
      const count = () => lines().filter((one) => one === line).length;
      const before = count();
      return () => expect.poll(count).toBeGreaterThan(before);
    };
    const asked = (args: object) => ({ at: "tool.before", sessionId: "s1", value: { tool: "read", args } as never });

    test("shakes hands, and says who it is", async () => {
      const { hello, link } = await share();
      expect(hello).toMatchObject({ ok: true, value: { protocolMajor: major, error: "" } });
      expect(link.wire).toBe(`${wire}, major ${major}`);
      const { version, tools } = await link.initialize(FACTS, NEVER);
      expect({ version, tools: tools.toSorted() }).toEqual({ version: "1.0.0", tools: TOOLS.toSorted() });
    });

    test("takes the first major where the host speaks no other, and tells a tool there where its conversation works", async () => {
      const { hello, link, call } = await start({ hostMajors: [1] });
      expect(hello).toMatchObject({ ok: true, value: { protocolMajor: 1 } });
      expect(link.wire).toBe(`${wire}, major 1`);
      expect(textOf(await call("echo", { text: "hello" }))).toEqual(["hello"]);
      expect(textOf(await call("where"))).toEqual(["/w"]);
    });

    test("says why it cannot run on a host that speaks none of its majors", async () => {
      const { hello } = await start({ hostMajors: [7] });
      expect(hello).toMatchObject({
        ok: false,
        again: false,
        failure: {
          code: "invalid",
          message: expect.stringMatching(/^plugin "contract" cannot start: .*7|major 1 only/),
        },
      });
    });

    test("tells a tool where its conversation works", async () => {
      const { call } = await share();
      expect(textOf(await call("where"))).toEqual(["/w"]);
    });

    test("names its tools when it is asked for them, too", async () => {
      const { link } = await share();
      // One that does not serve this has named them before.
      const names = await link.listTools(NEVER).catch((cause: LinkError) => cause.kind);
      expect(names === "unserved" ? names : [...names].toSorted()).toEqual(
        title === "grpc-js" ? "unserved" : TOOLS.toSorted(),
      );
    });

    test("refuses settings that it cannot use at the start already, in its own words", async () => {
      own = await startRig(command, program, { readable, place });
      const refused = await own.link
        .initialize({ ...FACTS, config: { bad: true } }, NEVER)
        .catch((cause: LinkError) => ({ kind: cause.kind, message: cause.message }));
      expect(refused).toMatchObject(
        title === "grpc-js" ? { version: "1.0.0" } : { kind: "refused", message: "bad settings" },
      );
    });

    test("starts slowly and is waited for", async () => {
      own = await startRig(slowly.command, { ...program, ...slowly.files }, { readable, place });
      expect(own.hello).toMatchObject({ ok: true });
      await own.link.initialize(FACTS, NEVER);
      expect(textOf(await own.call("echo", { text: "at last" }))).toEqual(["at last"]);
    });

    test("turns away who has no token", async () => {
      const { dial, call } = await share();
      const stranger = await dial("a guess");
      await expect(stranger.initialize(FACTS, NEVER)).rejects.toThrow(/token of this call is missing or wrong/);
      const guessed = { callId: "c", sessionId: "s", workspace: "/w", tool: "echo", args: {}, timeLimitMs: 1_000 };
      await expect(hearAll(stranger.callTool(guessed, NEVER))).rejects.toThrow(/token of this call/);
      expect(textOf(await call("echo", { text: "still here" }))).toEqual(["still here"]);
    });

    test("tells progress as it comes, and its result last", async () => {
      const { call } = await share();
      const news = await call("count", { to: 3 });
      expect(news.map((one) => (one.kind === "progress" ? one.text : one.kind))).toEqual([
        "1 of 3",
        "2 of 3",
        "3 of 3",
        "result",
      ]);
      expect(textOf(news)).toEqual(["counted to 3"]);
    });

    test("streams output in order, whatever its characters", async () => {
      const { call } = await share();
      const pieces = Array.from({ length: 200 }, (_, index) => `${index} żółć 🦀\n`);
      const news = await call("stream", { pieces });
      expect(outputOf(news)).toBe(pieces.join(""));
      expect(news.at(-1)?.kind).toBe("result");
      expect(textOf(news).join("")).toBe("end");
    });

    test.each([
      ["other scripts", "Grüße, 世界, مرحبا, 🦀🦀"],
      ["what JSON must escape", 'a "quoted" \\ line\nand a tab\t and \u0001 and \u2028'],
      ["nothing", ""],
    ])("gives back %s as they were", async (_, text) => {
      const { call } = await share();
      expect(textOf(await call("echo", { text })).join("")).toBe(text);
    });

    test("fails in its own words", async () => {
      const { call } = await share();
      const news = await call("fail", { message: "no such thing: żółć" });
      expect(news.at(-1)).toMatchObject({
        kind: "result",
        result: { failure: { code: "invalid", message: "no such thing: żółć" } },
      });
    });

    test("hears that a call was cancelled, and others go on", async () => {
      const rig = await share();
      const { link, call } = rig;
      const told = nextLine(rig, "stderr: the call was cancelled");
      const abort = new AbortController();
      const waiting = link.callTool(
        { callId: "w", sessionId: "s", workspace: "/w", tool: "wait", args: {}, timeLimitMs: 60_000 },
        abort.signal,
      );
      const heard = (async () => {
        for await (const news of waiting) if (news.kind === "progress") abort.abort();
      })();
      await expect(heard).rejects.toMatchObject({ kind: "cancelled" });
      await told();
      expect(textOf(await call("echo", { text: "next" }))).toEqual(["next"]);
    });

    test("hears that the time of a call is up", async () => {
      const rig = await share();
      const told = nextLine(rig, "stderr: the call was cancelled");
      const { link } = rig;
      const call = { callId: "w", sessionId: "s", workspace: "/w", tool: "wait", args: {}, timeLimitMs: 100 };
      await expect(hearAll(link.callTool(call, NEVER))).rejects.toMatchObject({ kind: "timed out" });
      await told();
    });

    test("takes and gives messages just below the limit", async () => {
      const { call } = await share();
      const text = "y".repeat(3.9 * MIB);
      expect(textOf(await call("echo", { text }))[0]?.length).toBe(text.length);
    });

    test("messages beyond the limit fail alone; the connection and what else runs on it live", async () => {
      const { call, link } = await share();
      const abort = new AbortController();
      const waiting = link
        .callTool(
          { callId: "w", sessionId: "s", workspace: "/w", tool: "wait", args: {}, timeLimitMs: 60_000 },
          abort.signal,
        )
        [Symbol.asyncIterator]();
      expect(await waiting.next()).toMatchObject({ value: { text: "waiting" } });
      const kindOf = (cause: LinkError) => cause.kind;
      expect(await call("big", { bytes: 5 * MIB }).catch(kindOf)).toBe("too large");
      expect(await call("echo", { text: "y".repeat(5 * MIB) }).catch(kindOf)).toBe("too large");
      expect(textOf(await call("echo", { text: "small" }))).toEqual(["small"]);
      const pending = waiting.next();
      abort.abort();
      await expect(pending).rejects.toMatchObject({ kind: "cancelled" });
    });

    test("serves many calls at once", async () => {
      const { call } = await share();
      const texts = Array.from({ length: 64 }, (_, index) => `number ${index}`);
      const answers = await Promise.all(texts.map((text) => call("echo", { text })));
      expect(answers.flatMap(textOf)).toEqual(texts);
    });

    test.each([
      ["passes", {}, { case: "pass", value: true }],
      ["blocks", { block: "not żółć" }, { case: "block", value: "not żółć" }],
      ["modifies", { more: "🦀" }, { case: "modify", value: { tool: "read", args: { text: "🦀" } } }],
      ["fails", { fail: "no idea" }, { case: "failure", value: "no idea" }],
    ])("a hook %s", async (_, args, verdict) => {
      const { link } = await share();
      const answer = await link.runHook(asked(args), NEVER);
      // Nothing set is a pass, too.
      if (answer.verdict.case === undefined) expect(verdict.case).toBe("pass");
      else expect(answer.verdict).toEqual(verdict);
    });

    test("a hook answers in the tool's place", async () => {
      const { link } = await share();
      const { verdict } = await link.runHook(asked({ answer: "42" }), NEVER);
      expect(verdict.case === "answer" && toJson(ValueSchema, verdict.value)).toEqual({ said: "42" });
    });

    test("a slow event holds up no other, and each gets its own answer", async () => {
      const { link } = await share();
      const slow = new AbortController();
      const last = link.runHook(asked({ slowMs: 60_000 }), slow.signal).catch((cause: LinkError) => cause.kind);
      const words = Array.from({ length: 100 }, (_, index) => `because ${index}`);
      const answers = await Promise.all(words.map((block) => link.runHook(asked({ block }), NEVER)));
      expect(answers.map(({ verdict }) => verdict.value)).toEqual(words);
      slow.abort();
      expect(await last).toBe("cancelled");
    });

    test("an event that nobody waits for is cancelled at the hook, and the next is answered", async () => {
      const rig = await share();
      const { link } = rig;
      const told = nextLine(rig, "stderr: the event was cancelled");
      const abort = new AbortController();
      const event = link.runHook(asked({ slowMs: 60_000 }), abort.signal);
      // The hook has begun when it has answered what came after.
      await link.runHook(asked({}), NEVER);
      abort.abort();
      await expect(event).rejects.toMatchObject({ kind: "cancelled" });
      await told();
      expect((await link.runHook(asked({ block: "next" }), NEVER)).verdict.value).toBe("next");
    });

    test("takes new settings, or says why not and keeps the old", async () => {
      const { link, call } = await share();
      expect(await link.configure({ depth: 3 }, NEVER)).toBe("in force");
      expect(JSON.parse(textOf(await call("settings")).join(""))).toEqual({ depth: 3 });
      expect(await link.configure({ bad: true }, NEVER)).toEqual({ problem: expect.stringContaining("bad settings") });
      expect(JSON.parse(textOf(await call("settings")).join(""))).toEqual({ depth: 3 });
    });

    test("drains: what runs is finished, nothing new is taken", async () => {
      const { link, call } = await start();
      const abort = new AbortController();
      const waiting = link
        .callTool(
          { callId: "w", sessionId: "s", workspace: "/w", tool: "wait", args: {}, timeLimitMs: 60_000 },
          abort.signal,
        )
        [Symbol.asyncIterator]();
      await waiting.next();
      let isDrained = false;
      const drained = link.drain(20_000).then(() => {
        isDrained = true;
      });
      await expect
        .poll(() =>
          call("echo", { text: "new" }).then(
            () => "taken",
            (cause: LinkError) => cause.kind,
          ),
        )
        .toBe("broken");
      expect(isDrained).toBe(false);
      abort.abort();
      await waiting.next().catch(() => {});
      await drained;
    });

    test("shows that it lives, and ends when it is told to", async () => {
      const { link, process: plugin } = await start();
      expect(await link.answers(10_000)).toBe(true);
      expect(await link.shutdown("the test is over", 10_000)).toBe(true);
      expect(await plugin.exited).toEqual({ code: 0, signal: null });
    });

    test("ends when its host is gone", async () => {
      const { process: plugin } = await start();
      plugin.stdin.end();
      expect(await plugin.exited).toEqual({ code: 0, signal: null });
    });

    // Through the whole plugin host, which chooses the place itself.
    test.runIf(place === SANDBOX)("reaches its host's services, by a grant only", async () => {
      const reach = async (permissions: { permission: string; reason: string }[]) => {
        const queries: string[] = [];
        const lab: Lab = await openLab({
          recall: async (query) => {
            queries.push(query);
            return {
              ok: true,
              value: [memoryHit({ id: "n1", kind: "file", path: "/a.md", line: 1, text: "żółć", author: "file" })],
            };
          },
        });
        const tools = TOOLS.map((name) => ({ name, description: "Acts.", inputSchema: { type: "object" } }));
        const folder = lab.author(
          manifestOf("contract", {
            launch: { command: [...command], startTimeoutMs: 60_000 },
            tools,
            permissions: [
              ...permissions,
              ...readable.map((path) => ({ permission: `read=${path}`, reason: "its packages" })),
            ],
            hooks: [{ at: "tool.before" }],
          }),
          program,
        );
        expect(await lab.host.admin.install(folder, true)).toMatchObject({ ok: true });
        const outcome = await lab.call("plugin_contract_recall", { query: "what?" });
        if (permissions.length > 0) expect(outcome).toEqual({ status: "done", output: "/a.md: żółć" });
        else expect(outcome).toMatchObject({ status: "failed", output: expect.stringContaining("memory") });
        expect(queries).toEqual(permissions.length > 0 ? ["what?"] : []);
        expect(await closeLab(lab)).toEqual(NOTHING_LEFT);
      };
      await Promise.all([reach([{ permission: "memory=read", reason: "to know" }]), reach([])]);
    });
  },
);
