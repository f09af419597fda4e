import type { JsonObject } from "@bufbuild/protobuf";
import { unreachable } from "../domain/failure.ts";
import {
  type Chunk,
  type Message,
  NO_USAGE,
  type Prompt,
  type Provider,
  type ReplyBlock,
  type ResultBlock,
  type ToolSpec,
} from "../domain/provider.ts";
import { readWishes, type Wish } from "./rehearsal-words.ts";

type Call = Extract<ReplyBlock, { kind: "toolCall" }>;

/** How much of a result is quoted back. */
const QUOTE_LIMIT_LINES = 12;
const QUOTE_LIMIT_UNITS = 1_200;

const GREETING = [
  "I am the rehearsal provider: no model, no network, the same answer every time.",
  "I turn plain words into tool calls, so that everything else can be tried. Say for example:",
  "",
  "- `read FILE`, `list DIR`, `grep PATTERN`, or a question such as `what is in notes.md?`",
  "- `write FILE: TEXT`, `run CMD`",
  "- `search WORDS` and `remember TEXT` for memory",
  '- `call TOOL {"key":"value"}` for any other tool',
  "",
  "Join several with `then` (one after the other) or ` & ` (side by side).",
  "For real answers set ANTHROPIC_API_KEY and run `claw down`.",
].join("\n");

/**
 * Answers offline and always the same: commands in the last words of the person become tool calls, step by step, and the
 * results are quoted back. It keeps nothing: where it stands is read from the prompt.
 */
export function rehearsalProvider(): Provider {
  return { name: "rehearsal", defaultModel: "plain", stream };
}

async function* stream(prompt: Prompt, signal: AbortSignal): AsyncGenerator<Chunk> {
  const { text, calls } = rehearse(prompt);
  for (const word of text.match(/\s*\S+\s*/g) ?? []) {
    if (signal.aborted) {
      yield { kind: "failed", failure: { code: "cancelled", message: "the rehearsal was interrupted" } };
      return;
    }
    yield { kind: "delta", block: 0, of: "text", text: word };
  }
  yield { kind: "block", block: 0, content: { kind: "text", text } };
  for (const [index, content] of calls.entries()) yield { kind: "block", block: index + 1, content };
  yield { kind: "end", stop: calls.length > 0 ? "calls" : "done", usage: NO_USAGE };
}

/** What it says to a prompt: words, and calls when there is a step left. */
function rehearse({ messages, tools }: Prompt): { readonly text: string; readonly calls: readonly Call[] } {
  const start = messages.findLastIndex((message) => message.role === "user" && saidWords(message) !== "");
  const asked = messages[start];
  const steps = asked === undefined ? [] : readWishes(saidWords(asked));
  if (steps.length === 0) return { text: GREETING, calls: [] };
  const replies = messages.slice(start + 1).filter((message) => message.role === "assistant");
  // Every reply with a call was a step; steps whose tools are all missing never became one.
  const plan = steps.map((step) => ({ calls: step.flatMap((wish) => toCall(wish, tools)) }));
  const left = plan.filter((step) => step.calls.length > 0).slice(replies.filter(hasCalls).length);
  const next = left[0];
  if (next !== undefined) {
    const calls = next.calls.map(
      (call, index): Call => ({ ...call, callId: `rehearsal-${messages.length}-${index + 1}` }),
    );
    return { text: `I will ${calls.map(describeCall).join(" and ")}.`, calls };
  }
  // Words that came in during a step stand beside its results; the step itself is the reply before.
  const beside = asked?.content.some((block) => block.kind === "toolResult") === true;
  const done = summarize(messages.slice(beside ? Math.max(0, start - 1) : start));
  const missing = steps.flat().flatMap((wish) => toProblem(wish, tools));
  return { text: [...done, ...missing].join("\n\n"), calls: [] };
}

function saidWords(message: Message): string {
  if (message.role !== "user") return "";
  return message.content
    .flatMap((block) =>
      block.kind === "text" && block.byHooks !== true && block.byMemory !== true ? [block.text] : [],
    )
    .join("\n")
    .trim();
}

function hasCalls(message: Message): boolean {
  return message.role === "assistant" && message.content.some((block) => block.kind === "toolCall");
}

/** Nothing when this session does not offer the tool. */
function toCall(wish: Wish, tools: readonly ToolSpec[]): readonly Call[] {
  if (wish.tool === "broken") return [];
  const name = wish.tool === "call" ? wish.name : wish.tool;
  const tool = tools.find((offered) => offered.name === name);
  if (tool === undefined) return [];
  return [{ kind: "toolCall", callId: "", tool: name, args: toArgs(wish, tool) }];
}

function toArgs(wish: Exclude<Wish, { tool: "broken" }>, tool: ToolSpec): JsonObject {
  switch (wish.tool) {
    case "read":
    case "list":
      return { [argName(tool, ["path", "file_path", "file", "dir"])]: wish.path };
    case "write":
      return {
        [argName(tool, ["path", "file_path", "file"])]: wish.path,
        [argName(tool, ["content", "text"])]: wish.content,
      };
    case "grep":
      return { [argName(tool, ["pattern", "query"])]: wish.pattern };
    case "shell":
      return { [argName(tool, ["command", "cmd"])]: wish.command };
    case "memory_search":
      return { [argName(tool, ["query", "text"])]: wish.query };
    case "remember":
      return { [argName(tool, ["text", "content"])]: wish.text };
    case "call":
      return wish.args;
    default:
      return unreachable(wish);
  }
}

/** The first of these names that the tool knows; a tool without named properties gets the usual one. */
function argName(tool: ToolSpec, names: readonly [string, ...string[]]): string {
  const { properties } = tool.input;
  if (typeof properties !== "object" || properties === null || Array.isArray(properties)) return names[0];
  return names.find((name) => Object.hasOwn(properties, name)) ?? names[0];
}

function toProblem(wish: Wish, tools: readonly ToolSpec[]): readonly string[] {
  if (wish.tool === "broken") return [`I could not do it: ${wish.problem}.`];
  if (toCall(wish, tools).length > 0) return [];
  const name = wish.tool === "call" ? wish.name : wish.tool;
  const offered = tools.length === 0 ? "none at all" : tools.map((tool) => tool.name).join(", ");
  return [`I cannot use \`${name}\` here. The tools of this session: ${offered}.`];
}

function describeCall({ tool, args }: Call): string {
  const subject = Object.values(args).find((value) => typeof value === "string") ?? "";
  switch (tool) {
    case "read":
    case "list":
    case "write":
      return `${tool} ${subject}`;
    case "grep":
      return `search the files for "${subject}"`;
    case "shell":
      return `run \`${subject}\``;
    case "memory_search":
      return `search memory for "${subject}"`;
    case "remember":
      return `remember "${subject}"`;
    default:
      return `call ${tool}`;
  }
}

/** One paragraph a call, in the order of the calls. */
function summarize(messages: readonly Message[]): readonly string[] {
  const results = new Map<string, ResultBlock>();
  for (const message of messages) {
    if (message.role !== "user") continue;
    for (const block of message.content) if (block.kind === "toolResult") results.set(block.callId, block);
  }
  return messages.flatMap((message) => {
    if (message.role !== "assistant") return [];
    return message.content.flatMap((block) =>
      block.kind === "toolCall" ? [tellResult(block, results.get(block.callId))] : [],
    );
  });
}

function tellResult(call: Call, result: ResultBlock | undefined): string {
  const what = describeCall(call);
  if (result === undefined) return `I wanted to ${what}, but got no result.`;
  if (result.isError) return `I could not ${what}. The reason:\n\n${quoteText(result.text)}`;
  if (result.text.trim() === "") return `I did ${what}; there was no output.`;
  return `I did ${what}:\n\n${quoteText(result.text)}`;
}

/** The first lines as a Markdown quote. */
function quoteText(text: string): string {
  const lines = text.trimEnd().split("\n");
  const head = lines.slice(0, QUOTE_LIMIT_LINES).join("\n").slice(0, QUOTE_LIMIT_UNITS).toWellFormed();
  const quoted = head.split("\n").map((line) => `> ${line}`.trimEnd());
  if (head.length < text.trimEnd().length) quoted.push(`> … (${lines.length} lines in all)`);
  return quoted.join("\n");
}
