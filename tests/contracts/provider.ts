import { describe, expect, test } from "vitest";
import type { Chunk, Message, Prompt, Provider, ReplyBlock, ToolSpec } from "../../core/domain/provider.ts";

/** A provider that answers `READ_NOTES` with a call of `read` on notes.md, and the result of that with words. */
export type ProviderUnderTest = { readonly provider: Provider; close(): Promise<void> };

const READ: ToolSpec = {
  name: "read",
  description: "Reads a file",
  input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

export function userSays(text: string): Message {
  return { role: "user", content: [{ kind: "text", text }] };
}

export const READ_NOTES: Prompt = {
  model: "",
  system: "You are tested.",
  messages: [userSays("read notes.md")],
  tools: [READ],
};

/** The prompt after the reply to `prompt`, with this text as the result of every call. */
export function answerCalls(prompt: Prompt, reply: readonly ReplyBlock[], text: string, isError = false): Prompt {
  const content = reply.flatMap((block) =>
    block.kind === "toolCall" ? [{ kind: "toolResult" as const, callId: block.callId, text, isError }] : [],
  );
  return {
    ...prompt,
    messages: [...prompt.messages, { role: "assistant", content: reply }, { role: "user", content }],
  };
}

export async function collect(
  provider: Provider,
  prompt: Prompt,
  signal = new AbortController().signal,
): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const chunk of provider.stream(prompt, signal)) chunks.push(chunk);
  return chunks;
}

export function blocksOf(chunks: readonly Chunk[]): readonly ReplyBlock[] {
  return chunks.flatMap((chunk) => (chunk.kind === "block" ? [chunk.content] : []));
}

/** What every provider promises, whoever answers behind it. */
export function testProviderContract(name: string, make: () => Promise<ProviderUnderTest>): void {
  async function withProvider(use: (provider: Provider) => Promise<void>): Promise<void> {
    const { provider, close } = await make();
    try {
      await use(provider);
    } finally {
      await close();
    }
  }

  describe(`the provider contract, kept by ${name}`, () => {
    test("a reply is numbered blocks whose deltas add up, and one end", () =>
      withProvider(async (provider) => {
        const chunks = await collect(provider, READ_NOTES);
        expectLegalReply(chunks);
        expect(chunks.at(-1)).toMatchObject({ kind: "end", stop: "calls" });
        expect(blocksOf(chunks)).toContainEqual(
          expect.objectContaining({ kind: "toolCall", tool: "read", args: { path: "notes.md" } }),
        );
      }));

    test("the results of calls lead to words and to the end of the turn", () =>
      withProvider(async (provider) => {
        const reply = blocksOf(await collect(provider, READ_NOTES));
        const chunks = await collect(provider, answerCalls(READ_NOTES, reply, "three fish"));
        expectLegalReply(chunks);
        expect(chunks.at(-1)).toMatchObject({ kind: "end", stop: "done" });
        expect(blocksOf(chunks)).toContainEqual({ kind: "text", text: expect.stringContaining("three fish") });
      }));

    test("a signal that has aborted before gives nothing but cancelled", () =>
      withProvider(async (provider) => {
        const chunks = await collect(provider, READ_NOTES, AbortSignal.abort());
        expect(chunks).toEqual([{ kind: "failed", failure: expect.objectContaining({ code: "cancelled" }) }]);
      }));

    test("an abort in the middle of a reply ends it with cancelled", () =>
      withProvider(async (provider) => {
        const abort = new AbortController();
        const chunks: Chunk[] = [];
        for await (const chunk of provider.stream(READ_NOTES, abort.signal)) {
          chunks.push(chunk);
          abort.abort();
        }
        expect(chunks.length).toBeGreaterThan(1);
        expect(chunks.at(-1)).toMatchObject({ kind: "failed", failure: { code: "cancelled" } });
      }));

    test("a reader that leaves early is not held up and breaks nothing", () =>
      withProvider(async (provider) => {
        for await (const chunk of provider.stream(READ_NOTES, new AbortController().signal))
          if (chunk !== undefined) break;
        expect((await collect(provider, READ_NOTES)).at(-1)).toMatchObject({ kind: "end" });
      }));

    test("replies that are streamed side by side do not mix, and the prompt stays as it was", () =>
      withProvider(async (provider) => {
        const before = JSON.stringify(READ_NOTES);
        const replies = await Promise.all(Array.from({ length: 5 }, () => collect(provider, READ_NOTES)));
        for (const chunks of replies) expect(chunks).toEqual(replies[0]);
        expect(JSON.stringify(READ_NOTES)).toBe(before);
      }));
  });
}

function expectLegalReply(chunks: readonly Chunk[]): void {
  const told = new Map<number, string>();
  const closed = new Set<number>();
  let begun = 0;
  for (const [index, chunk] of chunks.entries()) {
    expect(chunk.kind === "end" || chunk.kind === "failed", `chunk ${index} ends the reply`).toBe(
      index === chunks.length - 1,
    );
    if (chunk.kind === "end" || chunk.kind === "failed") continue;
    expect(closed.has(chunk.block), `block ${chunk.block} is still open`).toBe(false);
    expect(chunk.block).toBeLessThanOrEqual(begun);
    if (chunk.block === begun) begun += 1;
    if (chunk.kind === "delta") told.set(chunk.block, (told.get(chunk.block) ?? "") + chunk.text);
    else closed.add(chunk.block);
    if (chunk.kind === "block" && chunk.content.kind === "text") expect(told.get(chunk.block)).toBe(chunk.content.text);
  }
  expect(closed.size).toBe(begun);
}
