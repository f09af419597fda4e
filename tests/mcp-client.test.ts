import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { ApprovalAsked, ToolCallEnded } from "../proto/gen/clawd/v1/event_pb.ts";
import { dial, eventually } from "./kit/claw.ts";
import { type McpBench, openMcpBench } from "./mcp/mcp-house.ts";

/** Programs that stand back behind all others start slowly where the machine is busy. */
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const SERVER = join(import.meta.dirname, "mcp/full-server.mjs");
let bench: McpBench;

beforeAll(async () => {
  bench = await openMcpBench();
  await bench.servers({ f: { command: "node", args: [SERVER], allow: [`read=${bench.workspace}`] } });
  await bench.heard("f");
});
afterAll(() => bench.close());

type Answer = { readonly allowed: boolean; readonly content?: JsonObject };

/** Calls a tool in a conversation where somebody is there, who answers each question with the next of `answers`. */
async function callAttended(tool: string, answers: readonly Answer[], stopAfterStart = false) {
  const { sessions } = dial(bench.home);
  const { sessionId } = await sessions.openSession({ workspace: bench.workspace });
  const news = sessions.subscribe({ sessionId, follow: true, canAnswer: true });
  const said = sessions.say({ sessionId, text: `call ${tool} {}`, allow: ["mcp_*"] });
  const asked: ApprovalAsked[] = [];
  const refused: string[] = [];
  let ended: ToolCallEnded | undefined;
  for await (const { news: one } of news) {
    if (one.case !== "event") continue;
    const { body } = one.value;
    if (body.case === "toolCallStarted" && stopAfterStart) await sessions.interrupt({ sessionId });
    if (body.case === "toolCallEnded") ended = body.value;
    if (body.case === "turnEnded") break;
    if (body.case !== "approvalAsked") continue;
    asked.push(body.value);
    for (const answer of answers) {
      const { approvalId } = body.value;
      const problem = await sessions.answer({ sessionId, approvalId, ...answer }).then(
        () => "",
        (cause: Error) => cause.message,
      );
      if (problem === "") break;
      refused.push(problem);
    }
  }
  await said;
  return { output: ended?.output ?? "", asked, refused };
}

async function log(): Promise<string> {
  return (await bench.claw("plugin", "logs", "mcp_f")).stdout;
}

test("the resources of a server are listed page by page and read, and a change of one that was read stands in its log", async () => {
  const listed = await bench.call("mcp_f_list_resources");
  expect(listed.output.split("\n")).toEqual([
    "memo:1 first",
    "memo:2 second (text/plain)",
    "template memo:{number} any",
  ]);
  expect((await bench.call("mcp_f_list_resources", { contains: "SECOND" })).output).toBe("memo:2 second (text/plain)");
  expect((await bench.call("mcp_f_read_resource", { uri: "memo:7" })).output).toBe("[resource memo:7]\ntext of memo:7");
  const written = await eventually(log, (lines) => lines.includes("memo:7 changed"), "the note about the change");
  expect(written).toContain("a word of mine");
});

test("a prompt of a server is a slash command with arguments by order and by name", async () => {
  const said = await bench.claw("say", "--json", '/mcp_f_greet "Ann Lee" how=loudly');
  expect(said.stdout).toContain("Words of the prompt");
  expect(said.stdout).toContain(JSON.stringify(JSON.stringify({ how: "loudly", who: "Ann Lee" })).slice(3, -3));
  const missing = await bench.claw("say", "/mcp_f_greet");
  expect(missing.code).not.toBe(0);
  expect(missing.stderr).toContain('"who" is missing');
});

test("a question of a server is filled in by whoever is there, and what does not fit is refused and asked on", async () => {
  const { output, asked, refused } = await callAttended("mcp_f_form", [
    { allowed: true, content: { name: "Ann" } },
    { allowed: true, content: { name: "Ann", colour: "green" } },
    { allowed: true, content: { name: "Ann", colour: "blue", more: 1 } },
    { allowed: true, content: { name: "Ann", colour: "blue" } },
  ]);
  expect(JSON.parse(output)).toEqual({ action: "accept", content: { name: "Ann", age: 30, colour: "blue" } });
  expect(asked[0]?.because).toBe('the MCP server "f" asks, in its own words: who are you?');
  expect(asked[0]?.principal).toBe("plugin:mcp_f");
  expect(refused).toHaveLength(3);
  expect(refused[0]).toContain('the field "colour" is missing');
  expect(refused[1]).toContain('the field "colour" must be one of "red", "blue"');
  expect(refused[2]).toContain('nobody asked for "more"');
});

test("a no, and nobody there, decline what a server asks", async () => {
  expect(JSON.parse((await callAttended("mcp_f_form", [{ allowed: false }])).output)).toEqual({ action: "decline" });
  expect(JSON.parse((await bench.call("mcp_f_form")).output)).toEqual({ action: "decline" });
  expect(await log()).toContain("nobody was there to answer it");
});

test("what looks like a key is never asked for", async () => {
  const { output, asked } = await callAttended("mcp_f_secret", []);
  expect(JSON.parse(output)).toEqual({ action: "decline" });
  expect(asked).toEqual([]);
  expect(await log()).toContain('"apiKey" looks like a password or a key');
});

test("an address that a server wants opened is shown whole, and a yes goes back", async () => {
  const { output, asked } = await callAttended("mcp_f_visit", [{ allowed: true }]);
  expect(JSON.parse(output)).toEqual({ action: "accept" });
  expect(asked[0]?.because).toContain("https://example.com/confirm?a=1");
});

test("a server is told which folders its owner lets it see", async () => {
  const { output } = await bench.call("mcp_f_roots");
  expect(JSON.parse(output).roots).toEqual([expect.objectContaining({ uri: `file://${bench.workspace}` })]);
});

test("a call that is stopped is cancelled at the server", async () => {
  await callAttended("mcp_f_hang", [], true);
  const told = await eventually(
    async () => (await bench.call("mcp_f_cancelled")).output,
    (words) => words.includes("cancelled"),
    "the cancellation",
  );
  const [, hung = "", stopped = ""] = /^id (\S+) cancelled (\S+)/.exec(told) ?? [];
  expect(stopped).toBe(hung);
});
