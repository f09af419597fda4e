import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { eventually } from "./kit/claw.ts";
import { FAKE_SERVER, type McpBench, openMcpBench } from "./mcp/mcp-house.ts";

/** Programs that stand back behind all others start slowly where the machine is busy. */
vi.setConfig({ testTimeout: 180_000 });

let bench: McpBench;

beforeEach(async () => {
  bench = await openMcpBench({ FAKE_WORD: "word", FAKE_EMPTY: "" });
});
afterEach(() => bench.close());

const fake = { command: "node", args: [FAKE_SERVER], trust: true, timeout: 60_000 };

describe("servers that are started", () => {
  test("one wrong entry and one dead program take nothing from the others, nor from the daemon's start", async () => {
    await bench.servers({ good: fake, bad: { type: "carrier pigeon" }, dead: { command: "no-such-program" } });
    await bench.heard("good");
    expect((await bench.call("mcp_good_shape", { as: "text" })).output).toBe("two\nlines");
    const listed = await bench.claw("mcp", "list");
    expect(listed.stderr).toContain('MCP server "bad" must be of the type');
    expect(listed.stdout).toContain('the program "no-such-program" is not there for it');
    expect((await bench.claw("status")).stderr).toContain('MCP server "bad"');
  });

  test("variables are put into command, arguments and environment, and nothing else of the daemon's is there", async () => {
    await bench.servers({
      a: {
        ...fake,
        args: [
          FAKE_SERVER,
          "${FAKE_WORD}",
          "${FAKE_MISSING:-other}",
          "${FAKE_EMPTY:-other}",
          "${FAKE_MISSING}",
          "${open",
        ],
        env: { GIVEN: "<${FAKE_WORD}>" },
      },
    });
    await bench.heard("a");
    const { argv, env, cwd } = JSON.parse((await bench.call("mcp_a_print")).output);
    expect(argv).toEqual(["word", "other", "", "", "${open"]);
    expect(env.GIVEN).toBe("<word>");
    expect(env.FAKE_WORD).toBeUndefined();
    expect(env.CLAWD_PLUGIN).toBeUndefined();
    expect(env.HOME).toBe(join(bench.home, "mcp", "mcp_a", "data"));
    expect(cwd).toBe(join(bench.home, "mcp", "mcp_a"));
  });

  test("a server without a sign of life for its time fails, and one that shows progress does not", async () => {
    await bench.servers({ quick: { ...fake, timeout: 4_000 } });
    await bench.heard("quick");
    const silent = await bench.call("mcp_quick_wait", { ms: 600_000 });
    expect(silent.failure).toMatchObject({ category: "transient", retryable: true });
    expect(silent.failure?.message).toContain("no sign of life for 4 s");
    expect((await bench.call("mcp_quick_wait", { ms: 6_000, every: 300 })).output).toBe("waited");
  });

  test("every shape of an answer can be read", async () => {
    await bench.servers({ s: fake });
    await bench.heard("s");
    const output = async (as: string) => (await bench.call("mcp_s_shape", { as })).output;
    expect(await output("raw")).toContain('{"structuredContent":{"answer":42}');
    expect(await output("image")).toMatch(/^\[artifact [^ ]+ image\/png, 8 bytes\]$/);
    expect(await output("resource")).toBe("[resource memo:1]\na memo");
    expect(await output("link")).toBe("[resource memo:2, second]");
    const failed = await bench.call("mcp_s_shape", { as: "error" });
    expect(failed.output).toContain("it did not like that");
    expect(failed.failure).toMatchObject({ category: "invalid_input", retryable: false });
  });

  test("errors of the protocol have a class that programs can read", async () => {
    await bench.servers({ s: fake });
    await bench.heard("s");
    const failure = async (code: number) => (await bench.call("mcp_s_fail", { code })).failure;
    expect(await failure(-32602)).toMatchObject({ category: "invalid_input", retryable: false });
    expect(await failure(-32601)).toMatchObject({ category: "not_found", retryable: false });
    expect(await failure(-32603)).toMatchObject({ category: "server_error", retryable: true });
    expect((await failure(-32603))?.message).toContain("fails with -32603");
  });

  test("a server that dies in the middle of a call is a failure that may be tried again, and the next call finds a new one", async () => {
    await bench.servers({ s: fake });
    await bench.heard("s");
    expect((await bench.call("mcp_s_die")).failure).toMatchObject({ category: "transient", retryable: true });
    const again = await eventually(
      () => bench.call("mcp_s_shape", { as: "text" }),
      ({ output }) => output === "two\nlines",
      "the next life",
    );
    expect(again.failure).toBeUndefined();
  });

  test("with nobody there a call needs a yes in advance", async () => {
    await bench.servers({ s: fake });
    await bench.heard("s");
    const refused = await bench.call("mcp_s_shape", { as: "text" }, "--allow", "read");
    expect(refused.status).toBe("TOOL_CALL_STATUS_DENIED");
    expect(refused.failure?.message).toContain("nobody is there to give it");
  });

  test("names are unambiguous, whatever servers and tools are called", async () => {
    await bench.servers({ a_b: fake, a: fake });
    await bench.heard("a_b");
    await bench.heard("a");
    expect((await bench.call("mcp_a_b_shape", { as: "text" })).output).toBe("two\nlines");
    const names = await bench.tools("a");
    expect(new Set(names).size).toBe(9);
    for (const name of names) expect(name).toMatch(/^mcp_a_[A-Za-z0-9_-]{1,58}$/);
    const odd = names.find((name) => name.startsWith("mcp_a_odd_name_")) ?? "";
    expect((await bench.call(odd)).output).toBe("this is odd name!");
    expect((await bench.claw("plugin", "logs", "mcp_a")).stdout).toContain(
      'the tool "wrong" has a schema that is not of type',
    );
  });

  test("a server gets one request at a time", async () => {
    await bench.servers({ s: fake });
    await bench.heard("s");
    await bench.call("mcp_s_shape", { as: "text" });
    const ends = await Promise.all([bench.call("mcp_s_busy"), bench.call("mcp_s_busy"), bench.call("mcp_s_busy")]);
    expect(ends.map(({ output }) => output)).toEqual(["1 here", "1 here", "1 here"]);
  });

  test("a server that takes several requests at once gets them so", async () => {
    await bench.servers({ s: { ...fake, concurrent_calls: 2 } });
    await bench.heard("s");
    // Neither is answered before the other is there.
    const ends = await Promise.all([bench.call("mcp_s_busy", { until: 2 }), bench.call("mcp_s_busy", { until: 2 })]);
    expect(ends.map(({ failure }) => failure)).toEqual([undefined, undefined]);
  });

  test("a tool that changes its own description is asked about again, also where the policy allows it, until it is confirmed", async () => {
    await writeFile(join(bench.home, "config.toml"), '[policy]\nallow = ["mcp_s_*"]\n');
    await bench.servers({ s: fake });
    await bench.heard("s");
    const allowed = () => bench.call("mcp_s_print", {}, "--allow", "read");
    expect((await allowed()).failure).toBeUndefined();
    await bench.call("mcp_s_change");
    const refused = await eventually(allowed, ({ failure }) => failure !== undefined, "the question");
    expect(refused.failure?.message).toContain("describes itself otherwise than it did when it was first seen");
    const shown = await bench.claw("mcp", "approve", "s", "--yes");
    expect(shown.stdout).toContain("mcp_s_print (changed): prints, and by the way");
    expect((await allowed()).failure).toBeUndefined();
  });

  test("the tools of a server that was seen once are there before it runs again", async () => {
    await bench.servers({ s: fake });
    await bench.heard("s");
    expect(await bench.call("mcp_s_shape", { as: "text" })).toMatchObject({ output: "two\nlines" });
    await bench.claw("down");
    expect(await bench.tools("s")).toContain("mcp_s_print");
    const { stdout } = await bench.claw("plugin", "list");
    expect(stdout).toMatch(/mcp_s\s+1\.0\.0\s+idle/);
  });

  test("a workspace's own servers wait for a yes to exactly what stands there, and are there in that workspace alone", async () => {
    const file = join(bench.workspace, ".mcp.json");
    await writeFile(file, JSON.stringify({ mcpServers: { shared: fake } }));
    expect((await bench.claw("mcp", "list")).stdout).toContain("waits for a yes");
    expect((await bench.call("mcp_shared_print")).output).toContain("I cannot use");
    expect((await bench.claw("mcp", "approve", "shared")).code).toBe(1);
    const approved = await bench.claw("mcp", "approve", "shared", "--yes");
    expect(approved.stdout).toContain(FAKE_SERVER);
    await bench.heard("shared");
    expect((await bench.call("mcp_shared_shape", { as: "text" })).output).toBe("two\nlines");
    const elsewhere = await bench.call("mcp_shared_print", {}, "--workspace", bench.home, "--allow", "mcp_*");
    expect(elsewhere.output).toContain("I cannot use");
    await writeFile(file, JSON.stringify({ mcpServers: { shared: { ...fake, args: [FAKE_SERVER, "evil"] } } }));
    const reloaded = await bench.claw("mcp", "reload");
    expect(reloaded.stderr).toContain("is not the one that was approved");
    expect((await bench.call("mcp_shared_print")).output).toContain("I cannot use");
  });

  test("servers are added, shown and removed by the command line, and what else stands in the file stays", async () => {
    await writeFile(join(bench.home, "mcp.json"), JSON.stringify({ note: "mine", mcpServers: {} }));
    const added = await bench.claw(
      "mcp",
      "add",
      "s",
      "--env",
      "GIVEN=yes",
      "--allow-net=example.com",
      "--trust",
      "--",
      "node",
      FAKE_SERVER,
      "-y",
    );
    expect(added).toMatchObject({ code: 0 });
    await bench.heard("s");
    const { argv, env } = JSON.parse((await bench.call("mcp_s_print")).output);
    expect([argv, env.GIVEN]).toEqual([["-y"], "yes"]);
    expect((await bench.claw("mcp", "show", "s")).stdout).toContain("net=example.com");
    expect((await bench.claw("mcp", "add", "s", "--", "node", "other")).code).toBe(3);
    expect((await bench.claw("mcp", "remove", "s")).code).toBe(0);
    expect(JSON.parse(await readFile(join(bench.home, "mcp.json"), "utf8"))).toEqual({ note: "mine", mcpServers: {} });
    expect((await bench.call("mcp_s_print")).output).toContain("I cannot use");
    expect((await bench.claw("mcp", "remove", "s")).code).toBe(3);
  });

  test("servers of config.toml are servers like others", async () => {
    const config = `[mcp_servers.c]\ncommand = "node"\nargs = [${JSON.stringify(FAKE_SERVER)}]\ntrust = true\n`;
    await writeFile(join(bench.home, "config.toml"), config);
    await bench.heard("c");
    expect((await bench.call("mcp_c_shape", { as: "text" })).output).toBe("two\nlines");
  });
});
