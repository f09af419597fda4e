import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import type { Client } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CLAW } from "./kit/claw.ts";
import { type McpBench, openMcpBench } from "./mcp/mcp-house.ts";
import { overHttp, overStdio, type Person, serveHttp } from "./mcp-server/mcp-visitor.ts";

vi.setConfig({ testTimeout: 120_000 });

const SUITE_SERVER = join(import.meta.dirname, "mcp-server/suite-server.mjs");
const SUITE = { command: process.execPath, args: [SUITE_SERVER] };

let bench: McpBench;
const closers: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  bench = await openMcpBench();
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await bench.close();
});

async function stdio(options: Parameters<typeof overStdio>[1], ...flags: readonly string[]): Promise<Client> {
  const { client } = await overStdio(bench, options, ...flags);
  closers.push(() => client.close());
  return client;
}

/** Notifications of a client as they come, without what they carry but an address. */
function news(client: Client): string[] {
  const heard: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    heard.push(params.uri);
  });
  for (const list of ["tools", "prompts", "resources"] as const)
    client.setNotificationHandler(`notifications/${list}/list_changed`, () => {
      heard.push(list);
    });
  return heard;
}

const soon = (holds: () => void) => vi.waitFor(holds, { timeout: 15_000 });

async function allUris(client: Client): Promise<string[]> {
  const uris: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listResources(cursor === undefined ? {} : { cursor });
    uris.push(...page.resources.map(({ uri }) => uri));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return uris;
}

test("resources of a named server come under their own addresses, as the server says them, and a read is a call", async () => {
  await bench.servers({ suite: SUITE, other: SUITE });
  const client = await stdio({}, "--resources", "suite", "--resources", "oth*", "--allow", "mcp_suite_read_resource");
  const uris = (await allUris(client)).filter((uri) => uri.startsWith("test:"));
  // Both servers have the same: the first named has them all.
  expect(uris).toEqual(["test://static-text", "test://static-binary", "test://watched-resource"]);
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain("test://template/{id}/data");
  expect((await client.readResource({ uri: "test://static-text" })).contents).toEqual([
    { uri: "test://static-text", mimeType: "text/plain", text: "This is the content of the static text resource." },
  ]);
  const [picture] = (await client.readResource({ uri: "test://static-binary" })).contents;
  expect(picture).toMatchObject({ mimeType: "image/png", blob: expect.stringMatching(/^iVBOR/) });
  const [made] = (await client.readResource({ uri: "test://template/7/data" })).contents;
  expect(made).toMatchObject({ mimeType: "application/json", text: expect.stringContaining('"7"') });
  const [session = ""] = (await allUris(client)).filter((uri) => uri.startsWith("clawd://session/"));
  const { stdout } = await bench.claw("sessions", "export", session.replace("clawd://session/", ""));
  expect(stdout.match(/"toolCallStarted"/g)).toHaveLength(3);
  expect(stdout).toContain("mcp_suite_read_resource");
});

test("a read is asked about, and what nobody allows is not read", async () => {
  await bench.servers({ suite: SUITE });
  const person: Person = { says: { action: "decline" }, read: [] };
  const asked = await stdio({ person }, "--resources", "suite");
  await expect(asked.readResource({ uri: "test://static-text" })).rejects.toThrow(/said no/);
  expect(person.read[0]).toContain("mcp_suite_read_resource");
  person.says = { action: "accept", content: {} };
  expect((await asked.readResource({ uri: "test://static-text" })).contents).toHaveLength(1);
  const alone = await stdio({}, "--resources", "suite");
  await expect(alone.readResource({ uri: "test://static-text" })).rejects.toThrow(/nobody is there/);
  await expect(alone.readResource({ uri: "clawd://nothing/1" })).rejects.toThrow();
});

test("a client of 2026-07-28 is asked by an answer that it comes back to, for a read as for a call", async () => {
  await bench.servers({ suite: SUITE });
  const person: Person = { says: { action: "accept", content: {} }, read: [] };
  const client = await stdio({ person, era: "modern" }, "--resources", "suite");
  const { contents } = await client.readResource({ uri: "test://static-text" });
  expect(contents[0]).toMatchObject({ uri: "test://static-text" });
  expect(person.read).toHaveLength(1);
});

test("whoever subscribes hears of changes until they unsubscribe, and everybody that a list grew", async () => {
  await bench.servers({ suite: SUITE });
  const flags = ["--resources", "suite", "--tool", "mcp_suite_*", "--allow", "mcp_*"];
  const client = await stdio({}, ...flags);
  const heard = news(client);
  const uri = "test://watched-resource";
  await allUris(client);
  await client.subscribeResource({ uri });
  await expect(client.subscribeResource({ uri: "test://nowhere" })).rejects.toThrow(/nowhere/);
  const touch = () => client.callTool({ name: "mcp_suite_touch", arguments: { uri } });
  await touch();
  await soon(() => expect(heard.filter((one) => one === uri)).toHaveLength(1));
  await client.callTool({ name: "mcp_suite_grow", arguments: {} });
  await soon(() => expect(heard).toContain("resources"));
  expect(await allUris(client)).toContain("test://more/0");
  await client.unsubscribeResource({ uri });
  await touch();
  await client.callTool({ name: "mcp_suite_grow", arguments: {} });
  await soon(() => expect(heard.filter((one) => one === "resources").length).toBeGreaterThan(1));
  expect(heard.filter((one) => one === uri)).toHaveLength(1);
});

test("prompts of a server name their arguments and come with all parts in their roles", async () => {
  await bench.servers({ suite: SUITE });
  await bench.heard("suite");
  const client = await stdio({}, "--prompt", "mcp_*");
  const { prompts } = await client.listPrompts();
  expect(prompts.find(({ name }) => name === "mcp_suite_with-resource")?.arguments).toEqual([
    { name: "resourceUri", description: "what to embed", required: true },
  ]);
  const { messages } = await client.getPrompt({
    name: "mcp_suite_with-resource",
    arguments: { resourceUri: 'test://"quoted" and spaced' },
  });
  expect(messages.map(({ role, content }) => [role, content.type])).toEqual([
    ["user", "resource"],
    ["assistant", "text"],
    ["user", "text"],
  ]);
  expect(messages[0]?.content).toMatchObject({ resource: { uri: 'test://"quoted" and spaced', text: "embedded" } });
  await expect(client.getPrompt({ name: "mcp_suite_with-resource" })).rejects.toThrow(/"resourceUri" is missing/);
});

test("a tool that may ask a model asks the client's where the owner says so, under the same budget and question", async () => {
  await bench.servers({ suite: { ...SUITE, sampling_tokens: 2_000 } });
  await bench.heard("suite");
  const heard: string[] = [];
  const model = async (words: string) => {
    heard.push(words);
    return "words of theirs";
  };
  const person: Person = { says: { action: "accept", content: {} }, read: [] };
  const flags = ["--tool", "mcp_suite_*", "--allow", "mcp_*"];
  const sample = async (client: Client) => {
    const { content } = await client.callTool({ name: "mcp_suite_sample", arguments: { prompt: "sing" } });
    return JSON.stringify(content);
  };
  const lending = await stdio({ model, person }, ...flags, "--client-model");
  expect(await sample(lending)).toContain("lent/theirs says: words of theirs");
  expect(heard).toEqual([expect.stringContaining("sing")]);
  expect(person.read).toEqual([expect.stringContaining("may it ask your model")]);
  person.says = { action: "decline" };
  expect(await sample(lending)).toContain("did not let it ask");
  person.says = { action: "accept", content: {} };
  const broken = await stdio(
    { model: () => Promise.reject(new Error("no credit")), person },
    ...flags,
    "--client-model",
  );
  expect(await sample(broken)).toContain("the lent model did not answer");
  // Without the flag the house's own model answers, and a client that has none lends none.
  const own = await stdio({ model, person }, ...flags);
  expect(await sample(own)).toContain("rehearsal");
  const poor = await stdio({ person }, ...flags, "--client-model");
  expect(await sample(poor)).toContain("rehearsal");
  expect(heard).toHaveLength(1);
});

test.each(["legacy", "modern"] as const)(
  "the model of a %s client is asked, and what it says that it took counts, or else all that was set aside",
  async (era) => {
    await bench.servers({ suite: { ...SUITE, sampling_tokens: 500, sampling_ask: false } });
    await bench.heard("suite");
    const flags = ["--tool", "mcp_suite_*", "--allow", "mcp_*", "--client-model"];
    const model = async () => "words of theirs";
    const usage = { inputTokens: 3, outputTokens: 4 };
    const sample = async (client: Client) => {
      const { content } = await client.callTool({ name: "mcp_suite_sample", arguments: { prompt: "sing" } });
      return JSON.stringify(content);
    };
    const counting = await stdio({ era, model, usage }, ...flags);
    for (let time = 0; time < 6; time += 1)
      expect(await sample(counting)).toContain("lent/theirs says: words of theirs");
    const { stdout } = await bench.claw("plugin", "logs", "mcp_suite");
    expect(stdout).toContain(`${500 - 6 * 7} are left today`);
    const silent = await stdio({ era, model }, ...flags);
    const answers: string[] = [];
    for (let time = 0; time < 6; time += 1) answers.push(await sample(silent));
    expect(answers[0]).toContain("words of theirs");
    expect(answers.at(-1)).not.toContain("words of theirs");
  },
);

test("hooks read the words of a resource before its client does, take words out, and withhold what they cannot read in", async () => {
  await bench.servers({ suite: SUITE });
  await mkdir(join(bench.home, "hooks"), { recursive: true });
  const hook = `/** @hook at=tool.after critical */
export default ({ value }) => {
  if (value.output.startsWith("[artifact ")) return { block: "nobody can read in it" };
  const output = value.output.replaceAll("static text", "█");
  if (output !== value.output) return { modify: { ...value, output } };
};
`;
  await writeFile(join(bench.home, "hooks", "10-hide.ts"), hook);
  const client = await stdio({}, "--resources", "suite", "--allow", "mcp_*");
  const [said] = (await client.readResource({ uri: "test://static-text" })).contents;
  expect(said).toMatchObject({ mimeType: "text/plain", text: "This is the content of the █ resource." });
  expect((await client.readResource({ uri: "test://static-binary" })).contents).toMatchObject([
    { mimeType: "image/png", blob: expect.stringMatching(/^iVBOR/) },
  ]);
  await expect(client.readResource({ uri: "test://long" })).rejects.toThrow(/nobody can read in it/);
});

test("a resource that is too long for an output comes whole all the same, where no hook keeps it back", async () => {
  await bench.servers({ suite: SUITE });
  const client = await stdio({}, "--resources", "suite", "--allow", "mcp_*");
  const [said] = (await client.readResource({ uri: "test://long" })).contents;
  expect(said).toMatchObject({ text: "long ".repeat(100_000) });
});

test("of several servers templates decide who reads what nobody lists, and a tool of the reader's name takes reading away", async () => {
  const server = (...words: readonly string[]) => ({ ...SUITE, args: [...SUITE.args, ...words] });
  await bench.servers({ suite: SUITE, east: server("east"), west: server("west", "own-reader") });
  const named = ["suite", "east", "west"].flatMap((name) => ["--resources", name]);
  const client = await stdio({}, ...named, "--allow", "mcp_*");
  expect((await client.readResource({ uri: "east://somewhere" })).contents).toMatchObject([{ text: "east has it" }]);
  await expect(client.readResource({ uri: "west://somewhere" })).rejects.toThrow(/read_resource of its own/);
  await expect(client.readResource({ uri: "north://somewhere" })).rejects.toThrow(/north:\/\/somewhere/);
});

test("arguments of templates are completed by the server whose they are", async () => {
  await bench.servers({ suite: SUITE });
  const client = await stdio({}, "--resources", "suite");
  const complete = async (uri: string, context?: { arguments: Record<string, string> }) => {
    const asked = { ref: { type: "ref/resource" as const, uri }, argument: { name: "id", value: "par" } };
    return (await client.complete({ ...asked, ...(context === undefined ? {} : { context }) })).completion;
  };
  const template = "test://template/{id}/data";
  expect(await complete(template)).toEqual({ values: ["paris", "park"], total: 2, hasMore: false });
  expect((await complete(template, { arguments: { year: "1900" } })).values).toContain("1900");
  expect((await complete("test://{none}")).values).toEqual([]);
});

test("a prompt that says more than is passed on says so", async () => {
  await bench.servers({ suite: SUITE });
  await bench.heard("suite");
  const client = await stdio({}, "--prompt", "mcp_*");
  await expect(client.getPrompt({ name: "mcp_suite_too-long" })).rejects.toThrow(/more than 3 MiB/);
});

test("clients over HTTP hear that a list of resources grew, and go on hearing when the daemon is another", async () => {
  await bench.servers({ suite: SUITE });
  await bench.heard("suite");
  const served = await serveHttp(bench, "--resources", "suite", "--tool", "mcp_suite_*", "--allow", "mcp_*");
  closers.push(async () => {
    const ended = once(served.child, "exit");
    if (served.child.kill("SIGTERM")) await ended;
  });
  const [old, modern] = [await overHttp(served, {}), await overHttp(served, { era: "modern" })];
  for (const client of [old, modern]) closers.push(() => client.close());
  const heard = [news(old), news(modern)];
  await modern.listen({ resourcesListChanged: true });
  await allUris(old);
  const counts = () => heard.map((lists) => lists.filter((one) => one === "resources").length);
  /** Everybody hears of the list once more than they had. */
  async function more(since: readonly number[]): Promise<void> {
    await soon(() => expect(counts().every((count, at) => count > (since[at] ?? 0))).toBe(true));
  }
  const grow = () => old.callTool({ name: "mcp_suite_grow", arguments: {} });
  await grow();
  await more([0, 0]);
  expect(await allUris(old)).toContain("test://more/0");
  await bench.claw("down");
  const gone = counts();
  // Nobody asks for a list: the server itself notices that there is a daemon again.
  expect((await bench.claw("up")).code).toBe(0);
  await more(gone);
  const again = counts();
  await grow();
  await more(again);
});

const PLUGIN = `import { servePlugin, slashCommand, tool } from "clawd/plugin";
await servePlugin({
  name: "late", version: "1.0.0",
  tools: [tool({ name: "word", run: async () => "late" })],
  slashCommands: [slashCommand({ name: "late-word", run: async () => ({ say: "late" }) })],
});
`;
const MANIFEST = {
  ...{ manifestVersion: 1, name: "late", version: "1.0.0", description: "Comes later.", protocolMajors: [1, 2] },
  launch: { command: ["node", "late.ts"] },
  tools: [{ name: "word", description: "Says a word.", inputSchema: { type: "object" }, rerunSafe: true }],
  slashCommands: [{ name: "late-word", description: "Says it." }],
};

test.each(["stdio", "http", "modern http"] as const)(
  "a client over %s hears that lists changed when a plugin is installed and removed while it is there",
  async (way) => {
    const folder = join(bench.home, "late-source");
    await mkdir(folder);
    await writeFile(join(folder, "late.ts"), PLUGIN);
    await writeFile(join(folder, "plugin.json"), JSON.stringify(MANIFEST));
    const served = way === "stdio" ? undefined : await serveHttp(bench);
    if (served !== undefined)
      closers.push(async () => {
        const ended = once(served.child, "exit");
        if (served.child.kill("SIGTERM")) await ended;
      });
    const client =
      served === undefined ? await stdio({}) : await overHttp(served, { era: way === "http" ? "legacy" : "modern" });
    if (served !== undefined) closers.push(() => client.close());
    const heard = news(client);
    if (way === "modern http") await client.listen({ toolsListChanged: true, promptsListChanged: true });
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    expect(await names()).not.toContain("plugin_late_word");
    await client.listPrompts();
    expect((await bench.claw("plugin", "install", folder, "--yes", "--trust")).code).toBe(0);
    await soon(() => expect(heard.toSorted()).toEqual(["prompts", "tools"]));
    expect(await names()).toContain("plugin_late_word");
    expect((await bench.claw("plugin", "remove", "late")).code).toBe(0);
    await soon(() => expect(heard.toSorted()).toEqual(["prompts", "prompts", "tools", "tools"]));
    expect(await names()).not.toContain("plugin_late_word");
  },
);

test("a call goes on when its stream is lost, and its result is taken up behind the last message", async () => {
  await bench.servers({ suite: SUITE });
  await bench.heard("suite");
  const served = await serveHttp(bench, "--tool", "mcp_suite_*");
  closers.push(async () => {
    const ended = once(served.child, "exit");
    if (served.child.kill("SIGTERM")) await ended;
  });
  const headers: Record<string, string> = {
    authorization: `Bearer ${served.token}`,
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": "2025-11-25",
  };
  const post = (message: object, signal?: AbortSignal) =>
    fetch(served.url, {
      ...{ method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...message }) },
      ...(signal === undefined ? {} : { signal }),
    });
  const about = {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {} },
    clientInfo: { name: "t", version: "1" },
  };
  const begun = await post({ id: 1, method: "initialize", params: about });
  headers["mcp-session-id"] = begun.headers.get("mcp-session-id") ?? "";
  await begun.text();
  await post({ method: "notifications/initialized" });
  const lost = new AbortController();
  const params = { name: "mcp_suite_touch", arguments: { uri: "test://x" } };
  const called = await post({ id: 2, method: "tools/call", params }, lost.signal);
  const decoder = new TextDecoder();
  let heard = "";
  // The question to its person is the sign that the call is under way.
  for await (const piece of called.body ?? []) {
    heard += decoder.decode(piece);
    if (heard.includes("elicitation/create")) break;
  }
  lost.abort();
  const [, lastId = ""] = [...heard.matchAll(/^id: (\S+)$/gm)].at(-1) ?? [];
  const [, question = ""] = /^data: (.*elicitation\/create.*)$/m.exec(heard) ?? [];
  expect(heard).toMatch(/^retry: \d+$/m);
  await post({ id: JSON.parse(question).id, result: { action: "accept", content: {} } });
  const again = await fetch(served.url, {
    headers: { ...headers, accept: "text/event-stream", "last-event-id": lastId },
  });
  expect(await again.text()).toContain("touched");
});

test("a name that no server has is said, once, when lists are asked for", async () => {
  await bench.servers({ suite: SUITE });
  const flags = ["--resources", "suite", "--resources", "siute"];
  const served = spawn(process.execPath, [CLAW, "mcp", "serve", ...flags], { env: bench.env, cwd: bench.workspace });
  closers.push(async () => served.kill());
  const ask = (message: object) => served.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "reader", version: "1" } };
  ask({ id: 1, method: "initialize", params });
  ask({ method: "notifications/initialized" });
  for (const id of [2, 3]) ask({ id, method: "resources/list" });
  const answered = new Set<unknown>();
  for await (const line of createInterface({ input: served.stdout })) {
    answered.add(JSON.parse(line).id);
    if (answered.has(2) && answered.has(3)) break;
  }
  served.stdin.end();
  const said = await text(served.stderr);
  expect(said.match(/--resources siute fits no MCP server that runs here/g)).toHaveLength(1);
  expect(said).not.toContain("--resources suite");
});
