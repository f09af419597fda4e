import { expect, test } from "vitest";
import {
  answerCalls,
  blocksOf,
  collect,
  READ_NOTES,
  testProviderContract,
  userSays,
} from "../../tests/contracts/provider.ts";
import type { Prompt, ReplyBlock, ToolSpec } from "../domain/provider.ts";
import { rehearsalProvider } from "./rehearsal.ts";

testProviderContract("the rehearsal", async () => ({ provider: rehearsalProvider(), close: async () => {} }));

const rehearsal = rehearsalProvider();
const tools: readonly ToolSpec[] = ["read", "list", "shell", "memory_search", "plugin_hello_greet"].map((name) => ({
  name,
  description: "",
  input: { type: "object" },
}));

function says(text: string): Prompt {
  return { ...READ_NOTES, messages: [userSays(text)], tools };
}

async function reply(prompt: Prompt): Promise<readonly ReplyBlock[]> {
  return blocksOf(await collect(rehearsal, prompt));
}

function callsOf(blocks: readonly ReplyBlock[]) {
  return blocks.flatMap((block) => (block.kind === "toolCall" ? [{ tool: block.tool, args: block.args }] : []));
}

function textOf(blocks: readonly ReplyBlock[]): string {
  return blocks.flatMap((block) => (block.kind === "text" ? [block.text] : [])).join("");
}

test("commands joined with then become steps, and all their results are told at the end", async () => {
  let prompt = says('read a.md then call plugin_hello_greet {"name":"Ada"} & list . then search fish');
  const steps = [];
  for (let blocks = await reply(prompt); ; blocks = await reply(prompt)) {
    if (callsOf(blocks).length === 0) {
      const text = textOf(blocks);
      expect(text).toBe(
        [
          "I did read a.md:\n\n> one\n> two",
          "I did call plugin_hello_greet:\n\n> one\n> two",
          "I did list .:\n\n> one\n> two",
          'I did search memory for "fish":\n\n> one\n> two',
        ].join("\n\n"),
      );
      break;
    }
    steps.push(callsOf(blocks));
    prompt = answerCalls(prompt, blocks, "one\ntwo");
  }
  expect(steps).toEqual([
    [{ tool: "read", args: { path: "a.md" } }],
    [
      { tool: "plugin_hello_greet", args: { name: "Ada" } },
      { tool: "list", args: { path: "." } },
    ],
    [{ tool: "memory_search", args: { query: "fish" } }],
  ]);
});

test("call ids are the same every time and different within a session", async () => {
  const first = await reply(says("read a & read b then read c"));
  expect(await reply(says("read a & read b then read c"))).toEqual(first);
  const second = await reply(answerCalls(says("read a & read b then read c"), first, "x"));
  const ids = [...first, ...second].flatMap((block) => (block.kind === "toolCall" ? [block.callId] : []));
  expect(new Set(ids).size).toBe(3);
});

test("a step that failed is told with its reason, and the steps after it still run", async () => {
  const prompt = says("run rm -rf / then read a.md");
  const first = await reply(prompt);
  const second = await reply(answerCalls(prompt, first, 'hook "guard" said no: rm -rf', true));
  expect(callsOf(second)).toEqual([{ tool: "read", args: { path: "a.md" } }]);
  const last = await reply(
    answerCalls(answerCalls(prompt, first, 'hook "guard" said no: rm -rf', true), second, "text"),
  );
  expect(textOf(last)).toContain('I could not run `rm -rf /`. The reason:\n\n> hook "guard" said no: rm -rf');
  expect(textOf(last)).toContain("I did read a.md");
});

test("a long result is quoted by its first lines only", async () => {
  const prompt = says("read big.txt");
  const text = Array.from({ length: 500 }, (_, line) => `line ${line}`).join("\n");
  const answer = textOf(await reply(answerCalls(prompt, await reply(prompt), text)));
  expect(answer).toContain("> line 0");
  expect(answer).toContain("> … (500 lines in all)");
  expect(answer.length).toBeLessThan(500);
});

test("only offered tools are called; the others are named", async () => {
  const blocks = await reply(says("grep x then call nothing then read a.md"));
  expect(callsOf(blocks)).toEqual([{ tool: "read", args: { path: "a.md" } }]);
  const none = await reply({ ...says("read a.md"), tools: [] });
  expect(textOf(none)).toBe("I cannot use `read` here. The tools of this session: none at all.");
  expect(textOf(await reply(says("call greet {oops")))).toContain("are not JSON");
});

test("a tool with other names for its arguments gets those", async () => {
  const tool = {
    name: "read",
    description: "",
    input: { type: "object", properties: { file_path: { type: "string" } } },
  };
  expect(callsOf(await reply({ ...says("read a.md"), tools: [tool] }))).toEqual([
    { tool: "read", args: { file_path: "a.md" } },
  ]);
});

test("words without a command get an answer that says what it can do", async () => {
  const answer = textOf(await reply(says("good morning")));
  expect(answer).toContain("I am the rehearsal provider");
  expect(answer).toContain("ANTHROPIC_API_KEY");
});

test("a new message in the middle of a turn is what counts from then on", async () => {
  const prompt = says("read a.md then read b.md");
  const answered = answerCalls(prompt, await reply(prompt), "text of a");
  const last = answered.messages.at(-1);
  if (last?.role !== "user") throw new Error("no results");
  const steered: Prompt = {
    ...answered,
    messages: [
      ...answered.messages.slice(0, -1),
      { role: "user", content: [...last.content, { kind: "text", text: "list src" }] },
    ],
  };
  const next = await reply(steered);
  expect(callsOf(next)).toEqual([{ tool: "list", args: { path: "src" } }]);
  const end = textOf(await reply(answerCalls(steered, next, "main.ts")));
  expect(end).toContain("> text of a");
  expect(end).toContain("> main.ts");
});

test("words come one by one", async () => {
  const chunks = await collect(rehearsalProvider(), says("read a.md"));
  const words = chunks.flatMap((chunk) => (chunk.kind === "delta" ? [chunk.text] : []));
  expect(words).toEqual(["I ", "will ", "read ", "a.md."]);
});
