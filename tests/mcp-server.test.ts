import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Bench, dial, eventually, openBench, processesWith } from "./kit/claw.ts";
import { overHttp, overStdio, type Person, readResult, serveHttp } from "./mcp-server/mcp-visitor.ts";

vi.setConfig({ testTimeout: 120_000 });

let bench: Bench;
const closers: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  bench = await openBench();
  await writeFile(join(bench.workspace, "notes.md"), "the blue house");
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await bench.close();
});

function kept(client: Client): Client {
  closers.push(() => client.close());
  return client;
}
async function stdio(options: Parameters<typeof overStdio>[1] = {}, ...flags: readonly string[]) {
  const visitor = await overStdio(bench, options, ...flags);
  kept(visitor.client);
  return visitor;
}
async function http(...flags: readonly string[]) {
  const served = await serveHttp(bench, ...flags);
  closers.push(async () => {
    const ended = once(served.child, "exit");
    if (served.child.kill("SIGTERM")) await ended;
  });
  return served;
}
const call = async (client: Client, name: string, args: Record<string, unknown> = {}) =>
  readResult(await client.callTool({ name, arguments: args }));

async function eventsIn(session: string): Promise<Record<string, { status?: string; tool?: string }>[]> {
  const { stdout } = await bench.claw("sessions", "export", session);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}
const namesOf = (events: readonly object[]) =>
  events.map((event) => Object.keys(event).find((key) => !["seq", "atMs", "hash"].includes(key)));

const WRITE = { path: "new.md", content: "x" };

describe.each(["legacy", "modern"] as const)("a %s client over stdio", (era) => {
  test("calls tools in a session of its own, whose journal holds every step and is whole", async () => {
    const { client } = await stdio({ era });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["clawd_say", "read", "shell", "recall"]));
    const read = await call(client, "read", { path: "notes.md" });
    expect(read).toMatchObject({ text: "the blue house", isError: false, status: "done" });
    expect((await call(client, "read", { path: 7 })).isError).toBe(true);
    const happened = namesOf(await eventsIn(read.session));
    expect(happened.slice(0, 5)).toEqual([
      ...["sessionOpened", "turnStarted", "toolCallAsked", "toolCallStarted", "toolCallEnded"],
    ]);
    expect((await bench.claw("audit", "verify")).code).toBe(0);
    expect((await bench.claw("sessions", "show", read.session)).stderr).toContain("mcp:tester 1.0 calls");
  });

  test("is asked before what needs a yes: accepted it runs, declined or dismissed it does not", async () => {
    const person: Person = { says: { action: "accept" }, read: [] };
    const { client } = await stdio({ era, person });
    expect((await call(client, "write", WRITE)).status).toBe("done");
    expect(person.read[0]).toMatch(/^Allow write \{"path":"new.md"/);
    person.says = { action: "decline" };
    expect(await call(client, "write", { ...WRITE, content: "y" })).toMatchObject({
      status: "denied",
      text: "write did not run: the person said no",
    });
    person.says = { action: "cancel" };
    const dismissed = await call(client, "write", { ...WRITE, content: "z" });
    expect(dismissed).toMatchObject({ isError: true, text: "the call of write was cancelled" });
    expect(await readFile(join(bench.workspace, "new.md"), "utf8")).toBe("x");
    person.says = { action: "accept", content: { session: true } };
    await call(client, "shell", { command: "true" });
    await call(client, "shell", { command: "true" });
    expect(person.read).toHaveLength(4);
  });
});

test("the same gates stand before it: nobody there, a hook, a protected path, a rule", async () => {
  await mkdir(join(bench.home, "hooks"), { recursive: true });
  await writeFile(
    join(bench.home, "hooks/guard.ts"),
    '/** @hook at=tool.before */\nexport default async ({ value }) => (JSON.stringify(value).includes("secret") ? { block: "no secrets" } : undefined);\n',
  );
  await writeFile(join(bench.home, "config.toml"), '[policy]\ndeny = ["list"]\n');
  const { client } = await stdio({}, "--yolo");
  expect((await call(client, "read", { path: "secret.md" })).text).toContain('hook "guard" blocked read: no secrets');
  expect((await call(client, "write", { path: ".git/hooks/pre-commit", content: "x" })).status).toBe("denied");
  expect((await call(client, "list", {})).status).toBe("denied");
  const cautious = await stdio({}, "--allow", "shell:true");
  expect((await call(cautious.client, "shell", { command: "true" })).status).toBe("done");
  const alone = await call(cautious.client, "write", WRITE);
  expect(alone).toMatchObject({ status: "denied", text: expect.stringContaining("nobody is there to give it") });
});

test("a question stays open to every other client, and the one at the asking client goes away", async () => {
  const person: Person = { says: "nothing", read: [] };
  const { client } = await stdio({ person });
  const { session } = await call(client, "read", { path: "notes.md" });
  const writing = call(client, "write", WRITE);
  const { sessions } = dial(bench.home);
  for await (const { news } of sessions.subscribe({ sessionId: session, follow: true })) {
    if (news.case !== "event" || news.value.body.case !== "approvalAsked") continue;
    await sessions.answer({ sessionId: session, approvalId: news.value.body.value.approvalId, allowed: true });
    break;
  }
  expect((await writing).status).toBe("done");
  expect(person.read).toHaveLength(1);
});

test("a client that cancels, or is killed with its server, takes its call along", async () => {
  const { client, pid } = await stdio({}, "--allow", "shell");
  const { session } = await call(client, "read", { path: "notes.md" });
  const wait = { name: "shell", arguments: { command: `echo $$ > pid; sleep 1000 # ${bench.workspace}/orphan` } };
  const endOf = (count: number) =>
    eventually(
      async () => (await eventsIn(session)).flatMap(({ toolCallEnded }) => toolCallEnded ?? []).at(count)?.status,
      (status) => status === "TOOL_CALL_STATUS_CANCELLED",
      "the end of the call",
    );
  const begun = (count: number) =>
    eventually(
      async () => namesOf(await eventsIn(session)).filter((name) => name === "toolCallStarted").length,
      (starts) => starts > count,
      "the start of the call",
    );
  const running = () =>
    eventually(
      () => readFile(join(bench.workspace, "pid"), "utf8").catch(() => ""),
      (shell) => shell.trim() !== "",
      "the command",
    );
  const stop = new AbortController();
  const cancelled = client.callTool(wait, { signal: stop.signal }).catch(() => undefined);
  await begun(1);
  await running();
  stop.abort();
  await cancelled;
  await endOf(1);
  await rm(join(bench.workspace, "pid"));
  const killed = client.callTool(wait).catch(() => undefined);
  await begun(2);
  await running();
  process.kill(pid(), "SIGKILL");
  await killed;
  await endOf(2);
  await eventually(
    async () => (await bench.claw("sessions", "list", "--json")).stdout,
    (rows) => !rows.includes('"busy":true'),
    "the end of the turn",
  );
  expect(processesWith(`${bench.workspace}/orphan`)).toEqual([]);
  expect((await bench.claw("audit", "verify")).code).toBe(0);
});

test("a conversation streams as progress, is read as a resource, and tells its followers that it grew", async () => {
  const { client } = await stdio();
  const updated: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    updated.push(params.uri);
  });
  const pieces: string[] = [];
  const said = await client.callTool(
    { name: "clawd_say", arguments: { text: "read notes.md" } },
    { onprogress: ({ message = "" }) => pieces.push(message) },
  );
  const { session, outcome, reply } = said.structuredContent as Record<string, string>;
  expect(outcome).toBe("done");
  expect(reply).toContain("the blue house");
  expect(pieces.join("")).toContain("the blue house");
  const uri = `clawd://session/${session}`;
  await client.subscribeResource({ uri });
  await client.callTool({ name: "clawd_say", arguments: { text: "hello again" } });
  await eventually(
    () => updated,
    (uris) => uris.includes(uri),
    "the news of the change",
  );
  const [transcript] = (await client.readResource({ uri })).contents;
  expect(transcript).toMatchObject({
    text: expect.stringMatching(/› read notes\.md[\s\S]*✓ read[\s\S]*› hello again/),
  });
  await expect(client.readResource({ uri: "clawd://session/none" })).rejects.toThrow();
  await expect(client.readResource({ uri: "file:///etc/passwd" })).rejects.toThrow();
});

const PLUGIN = join(import.meta.dirname, "mcp-server/conformance-plugin");

test.each(["legacy", "modern"] as const)(
  "what a tool gives as bytes comes as what it is to a %s client, and only from the session that was told of it",
  async (era) => {
    await bench.claw("plugin", "install", PLUGIN, "--yes", "--trust");
    const { client } = await stdio({ era }, "--allow", "plugin_conformance_*");
    const { content = [], _meta } = await client.callTool({ name: "plugin_conformance_mixed" });
    expect(content).toMatchObject([
      { type: "text", text: "A picture:" },
      { type: "image", mimeType: "image/png", data: expect.stringMatching(/^iVBORw0KGgo/) },
      { type: "text", text: "and its data:" },
      { type: "resource", resource: { mimeType: "application/json", text: '{"wide":1}' } },
    ]);
    const [uri = ""] = content.flatMap((part) => (part.type === "resource" ? part.resource.uri : []));
    expect((await client.readResource({ uri })).contents).toMatchObject([{ uri, text: '{"wide":1}' }]);
    const { sessions } = dial(bench.home);
    const { sessionId } = await sessions.openSession({ workspace: bench.workspace });
    const elsewhere = uri.replace(String(_meta?.["clawd/session"]), sessionId);
    await expect(client.readResource({ uri: elsewhere })).rejects.toThrow();
    expect((await bench.claw("plugin", "remove", "conformance")).code).toBe(0);
    await expect(client.readResource({ uri })).rejects.toThrow();
  },
);

test("an artifact whose name a hook takes out of the output is not given out", async () => {
  await mkdir(join(bench.home, "hooks"), { recursive: true });
  await writeFile(
    join(bench.home, "hooks/blind.ts"),
    '/** @hook at=tool.after */\nexport default async ({ value }) => ({ modify: { ...value, output: "nothing to see" } });\n',
  );
  await bench.claw("plugin", "install", PLUGIN, "--yes", "--trust");
  const { client } = await stdio({}, "--allow", "plugin_conformance_*");
  const { content } = await client.callTool({ name: "plugin_conformance_image" });
  expect(content).toEqual([{ type: "text", text: "nothing to see" }]);
});

test("a tool's own form is filled in by the client's person, and what does not fit is no yes", async () => {
  await bench.claw("plugin", "install", PLUGIN, "--yes", "--trust");
  const person: Person = { says: { action: "accept", content: { username: "mia" } }, read: [] };
  const { client } = await stdio({ era: "modern", person }, "--allow", "plugin_conformance_*");
  expect((await call(client, "plugin_conformance_ask")).text).toContain('{"username":"mia"');
  expect(person.read[0]).toContain("What shall it be?");
  person.says = { action: "decline" };
  expect((await call(client, "plugin_conformance_ask")).text).toBe("They said no");
  person.says = { action: "accept", content: { username: true } };
  expect((await call(client, "plugin_conformance_ask")).text).toBe("They said no");
});

test("slash commands are prompts: their words for a model as the user's, their answers as the assistant's", async () => {
  await bench.claw("plugin", "install", PLUGIN, "--yes", "--trust");
  const { client: plain } = await stdio();
  const namesFor = async (one: Client) => (await one.listPrompts()).prompts.map(({ name }) => name);
  expect(await namesFor(plain)).toEqual(["conformance-greet"]);
  await expect(plain.getPrompt({ name: "forget", arguments: { args: "x" } })).rejects.toThrow('no prompt "forget"');
  const { client } = await stdio({}, "--prompt", "*", "--prompt", "note=remember");
  expect(await namesFor(client)).toEqual(expect.arrayContaining(["memory", "note", "conformance-greet"]));
  const greeting = await client.getPrompt({ name: "conformance-greet", arguments: { who: 'a "b"', args: "twice" } });
  const text = `Greet the tester. who="a "'"'"b"'"'"" twice`;
  expect(greeting.messages).toEqual([{ role: "user", content: { type: "text", text } }]);
  await client.getPrompt({ name: "note", arguments: { args: "the door is red" } });
  const listed = await client.getPrompt({ name: "memory" });
  expect(listed.messages).toMatchObject([
    { role: "assistant", content: { text: expect.stringContaining("the door is red") } },
  ]);
  await expect(client.getPrompt({ name: "none" })).rejects.toThrow('no prompt "none"');
  await expect(client.getPrompt({ name: "forget", arguments: { args: "none" } })).rejects.toThrow();
});

test("clawd_say runs no slash command: those act as the owner's own hand", async () => {
  const { client } = await stdio();
  const kept = "/remember the safe stands open";
  const said = await client.callTool({ name: "clawd_say", arguments: { text: kept } });
  expect(said).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("slash command") }] });
  const path = await client.callTool({ name: "clawd_say", arguments: { text: "/etc/hosts is a file" } });
  expect(path.isError ?? false).toBe(false);
});

test("who cancels clawd_say interrupts the turn, and the conversation can go on", async () => {
  const { client } = await stdio({}, "--allow", "shell");
  const first = await client.callTool({ name: "clawd_say", arguments: { text: "hello" } });
  const { session = "" } = first.structuredContent as Record<string, string>;
  const stop = new AbortController();
  const text = "run `sleep 1000`";
  const cancelled = client
    .callTool({ name: "clawd_say", arguments: { text } }, { signal: stop.signal })
    .catch(() => "cancelled");
  const has = (name: string, count: number) =>
    eventually(
      async () => namesOf(await eventsIn(session)).filter((one) => one === name).length,
      (found) => found === count,
      name,
    );
  await has("toolCallStarted", 1);
  stop.abort();
  expect(await cancelled).toBe("cancelled");
  await has("turnEnded", 2);
  expect(namesOf(await eventsIn(session))).toContain("interruptRequested");
  const after = await client.callTool({ name: "clawd_say", arguments: { text: "hello again" } });
  expect(after.structuredContent).toMatchObject({ session, outcome: "done" });
});

test("notes are resources, found by the tools and completed by their ids", async () => {
  await bench.claw("memory", "remember", "the door is green");
  const { client } = await stdio();
  const { resources } = await client.listResources();
  const note = resources.find(({ uri }) => uri.startsWith("clawd://note/"));
  expect((await client.readResource({ uri: note?.uri ?? "" })).contents[0]).toMatchObject({
    text: "the door is green",
  });
  expect((await call(client, "recall", { query: "door" })).text).toContain("the door is green");
  const ref = { type: "ref/resource", uri: "clawd://note/{id}" } as const;
  const { completion } = await client.complete({ ref, argument: { name: "id", value: note?.name.slice(0, 4) ?? "" } });
  expect(completion.values).toEqual([note?.name]);
});

test("many resources come in pages, each of them once", async () => {
  const { sessions } = dial(bench.home);
  const { client } = await stdio();
  for (let count = 0; count < 60; count += 1) await sessions.openSession({ workspace: bench.workspace });
  const first = await client.listResources();
  expect(first.resources).toHaveLength(60);
  const { client: paging } = await stdio();
  const page = await paging.request({ method: "resources/list", params: {} });
  expect(page.resources).toHaveLength(50);
  expect(new Set(first.resources.map(({ uri }) => uri)).size).toBe(60);
  await expect(paging.request({ method: "resources/list", params: { cursor: "x" } })).rejects.toThrow("cursor");
});

describe("over HTTP", () => {
  test.each(["legacy", "modern"] as const)("two %s clients at once have sessions of their own", async (era) => {
    const served = await http();
    const person: Person = { says: { action: "accept" }, read: [] };
    const one = kept(await overHttp(served, { era, name: "one", person }));
    const two = kept(await overHttp(served, { era, name: "two" }));
    const [first, second, written] = await Promise.all([
      call(one, "read", { path: "notes.md" }),
      call(two, "read", { path: "notes.md" }),
      call(one, "write", WRITE),
    ]);
    expect(first.session).toBe(written.session);
    expect(first.session).not.toBe(second.session);
    expect(person.read).toHaveLength(1);
    expect((await call(two, "write", WRITE)).status).toBe("denied");
    expect(written.status).toBe("done");
  });

  test("nobody comes in without the token, from a page elsewhere, or with too much in hand", async () => {
    const { url, token } = await http();
    const ask = async (headers: Record<string, string>, body = "{}") => {
      const sent = { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers };
      return (await fetch(url, { method: "POST", headers: sent, body })).status;
    };
    const authorization = `Bearer ${token}`;
    expect(await ask({})).toBe(401);
    expect(await ask({ authorization: "Bearer guess" })).toBe(401);
    expect(await ask({ authorization, origin: "https://evil.example" })).toBe(403);
    const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    expect(await ask({ authorization, "mcp-session-id": "none" }, list)).toBe(404);
    expect(await ask({ authorization }, `"${"x".repeat(5_000_000)}"`)).toBe(413);
    expect(await ask({ authorization }, "{")).toBe(400);
  });

  test("it ends in order when told to, and a token of one's own is never shown", async () => {
    await writeFile(join(bench.workspace, "token"), "a token of sixteen".replaceAll(" ", "-"));
    const served = await http("--token-file", "token");
    expect(served.token).toBeUndefined();
    const client = kept(await overHttp({ ...served, token: "a-token-of-sixteen" }, {}));
    expect((await call(client, "read", { path: "notes.md" })).status).toBe("done");
    const ended = once(served.child, "exit");
    served.child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });

  test("an address that others reach has to be meant", async () => {
    expect(await bench.claw("mcp", "serve", "--http", "0.0.0.0:0")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--listen 0.0.0.0:0"),
    });
    expect((await bench.claw("mcp", "serve", "--http", "nowhere")).code).toBe(2);
  });
});

test("only the tools that were chosen are offered, also under other names", async () => {
  const { client } = await stdio({}, "--tool", "look=read", "--tool", "memory_*");
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["clawd_say", "look", "memory_search"]);
  expect((await call(client, "look", { path: "notes.md" })).text).toBe("the blue house");
  await expect(call(client, "read", { path: "notes.md" })).rejects.toThrow('no tool "read"');
  expect((await bench.claw("mcp", "serve", "--tool", "a b")).code).toBe(2);
});

test("everything happens in one session when it is named, and a daemon that ends is started again", async () => {
  const { client: other } = await stdio();
  const { session } = await call(other, "read", { path: "notes.md" });
  const { client } = await stdio({ name: "second" }, "--session", session);
  expect((await call(client, "read", { path: "notes.md" })).session).toBe(session);
  await bench.claw("down");
  expect((await client.listTools()).tools.length).toBeGreaterThan(3);
  expect((await call(client, "read", { path: "notes.md" })).session).toBe(session);
});
