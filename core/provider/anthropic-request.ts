import type { JsonObject } from "@bufbuild/protobuf";
import { unreachable } from "../domain/failure.ts";
import type { Message, Prompt, ReplyBlock, ResultBlock, ToolSpec } from "../domain/provider.ts";

/** Marks a point up to which the vendor keeps its work on the prompt, for five minutes. */
const CACHE_MARK = `,"cache_control":{"type":"ephemeral"}`;

const BETWEEN_MESSAGES = Buffer.from("}]},");
const AFTER_MESSAGES = Buffer.from(`${CACHE_MARK}}]}]}`);

/** Writes request bodies. What it wrote for a message once, it never writes again. */
export type RequestWriter = {
  /** The JSON body for one model call, UTF-8; undefined when the prompt holds nothing that could be answered. */
  write(prompt: Prompt, model: string, maxOutputTokens: number): Uint8Array | undefined;
  /**
   * Leaves the thinking of these messages out from now on. The vendor binds thinking to everything that stood before it
   * and refuses the whole conversation once that has changed (another system prompt, another set of tools).
   */
  forgetThinking(messages: readonly Message[]): void;
};

export function requestWriter(): RequestWriter {
  /**
   * JSON of each message up to the closing bracket of its last block, so that a cache mark still fits in. Kept as bytes:
   * a long conversation is sent again at every step, and encoding it anew would be most of a step's cost.
   */
  const openMessages = new WeakMap<Message, Buffer>();
  const withoutThinking = new WeakSet<Message>();
  const openTools = new WeakMap<ToolSpec, string>();

  function openMessage(message: Message): Buffer {
    let bytes = openMessages.get(message);
    if (bytes === undefined) {
      bytes = Buffer.from(writeMessage(message, !withoutThinking.has(message)));
      openMessages.set(message, bytes);
    }
    return bytes;
  }

  function openTool(tool: ToolSpec): string {
    let text = openTools.get(tool);
    if (text === undefined) {
      const { name, description, input } = tool;
      text = JSON.stringify({ name, description, input_schema: input }).slice(0, -1);
      openTools.set(tool, text);
    }
    return text;
  }

  return {
    write(prompt, model, maxOutputTokens) {
      const messages = prompt.messages.map(openMessage).filter((bytes) => bytes.length > 0);
      const [first, ...more] = messages;
      if (first === undefined) return undefined;
      const fields = [
        `"model":${JSON.stringify(model)}`,
        `"max_tokens":${Math.min(maxOutputTokens, prompt.maxTokens ?? maxOutputTokens)}`,
        `"stream":true`,
        // Of a budget the thinking would be a part, perhaps all of it.
        ...(thinksByItself(model) && prompt.maxTokens === undefined
          ? [`"thinking":{"type":"adaptive","display":"summarized"}`]
          : []),
        ...(prompt.system === "" ? [] : [`"system":[{"type":"text","text":${quote(prompt.system)}${CACHE_MARK}}]`]),
        ...(prompt.tools.length === 0 ? [] : [`"tools":[${prompt.tools.map(openTool).join("},")}${CACHE_MARK}}]`]),
        `"messages":[`,
      ];
      const parts = [Buffer.from(`{${fields.join(",")}`), first];
      for (const message of more) parts.push(BETWEEN_MESSAGES, message);
      parts.push(AFTER_MESSAGES);
      return Buffer.concat(parts);
    },

    forgetThinking(messages) {
      for (const message of messages) {
        if (message.role !== "assistant" || withoutThinking.has(message)) continue;
        withoutThinking.add(message);
        openMessages.delete(message);
      }
    },
  };
}

/** The first version that decides by itself how long to think; older ones refuse the setting. */
const FIRST_ADAPTIVE = 4.6;

/**
 * True for models that take `thinking: adaptive`. They are asked for a readable summary, because the newest put what
 * they say between two calls into thinking as well, and a person would see nothing of it by default.
 */
function thinksByItself(model: string): boolean {
  const match = /^claude-(?:opus|sonnet|haiku|fable|mythos)-(\d+)(?:-(\d{1,2})(?!\d))?/.exec(model);
  return match !== null && Number(`${match[1]}.${match[2] ?? 0}`) >= FIRST_ADAPTIVE;
}

/** Empty when nothing of the message can be sent. */
function writeMessage(message: Message, withThinking: boolean): string {
  const blocks =
    message.role === "user" ? writeUserBlocks(message.content) : writeReplyBlocks(message.content, withThinking);
  if (blocks.length === 0) return "";
  return `{"role":"${message.role}","content":[${blocks.join(",")}`.slice(0, -1);
}

function writeUserBlocks(content: Extract<Message, { role: "user" }>["content"]): readonly string[] {
  // The vendor wants the results of calls before any words.
  const results = content.filter((block) => block.kind === "toolResult").map(writeResult);
  const texts = content
    .filter((block) => block.kind === "text")
    .filter(hasWords)
    .map(writeText);
  return [...results, ...texts];
}

function writeReplyBlocks(content: readonly ReplyBlock[], withThinking: boolean): readonly string[] {
  // A reply that was cut off can end in thinking or in nothing; sent back like that, it is refused for ever.
  const lastSaid = content.findLastIndex(
    (block) => block.kind === "toolCall" || (block.kind === "text" && hasWords(block)),
  );
  return content.slice(0, lastSaid + 1).flatMap((block): readonly string[] => {
    switch (block.kind) {
      case "text":
        return hasWords(block) ? [writeText(block)] : [];
      case "thinking":
        return withThinking ? writeThinking(block) : [];
      case "toolCall":
        return [writeCall(block)];
      default:
        return unreachable(block);
    }
  });
}

function hasWords(block: { readonly text: string }): boolean {
  return /\S/.test(block.text);
}

function writeText(block: { readonly text: string }): string {
  return `{"type":"text","text":${quote(block.text)}}`;
}

function writeThinking(block: Extract<ReplyBlock, { kind: "thinking" }>): readonly string[] {
  if (block.redacted !== "") return [`{"type":"redacted_thinking","data":${quote(block.redacted)}}`];
  // Unsigned thinking comes from somewhere else and would be refused.
  if (block.signature === "") return [];
  return [`{"type":"thinking","thinking":${quote(block.text)},"signature":${quote(block.signature)}}`];
}

function writeCall(block: Extract<ReplyBlock, { kind: "toolCall" }>): string {
  const { callId, tool, args } = block;
  return `{"type":"tool_use","id":${quote(plainName(callId))},"name":${quote(plainName(tool))},"input":${writeArgs(args)}}`;
}

function writeResult(block: ResultBlock): string {
  const error = block.isError ? `,"is_error":true` : "";
  return `{"type":"tool_result","tool_use_id":${quote(plainName(block.callId))},"content":${quote(block.text)}${error}}`;
}

/** Ids and names of another vendor may hold characters that this one refuses. */
function plainName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
}

/** Half a surrogate pair is legal in a JavaScript string but makes the vendor refuse the body. */
function quote(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

function writeArgs(args: JsonObject): string {
  return JSON.stringify(args, (_key, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value));
}
