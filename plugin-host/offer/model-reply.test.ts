import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { GenerateResponseSchema } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import { type ReadNews, replyReader } from "./model-reply.ts";

type News = NonNullable<MessageInitShape<typeof GenerateResponseSchema>["news"]>;
const delta = (value: string): News => ({ case: "textDelta", value });
const text = (value: string): News => ({ case: "part", value: { part: { case: "text", value } } });
const call = (tool: string): News => ({
  case: "part",
  value: { part: { case: "call", value: { callId: "c1", tool, args: { a: 1 } } } },
});
const thinking: News = { case: "part", value: { part: { case: "thinking", value: "hm" } } };
const end = (stop: string): News => ({ case: "end", value: { stop, inputTokens: 3, outputTokens: 5 } });

/** What the last piece of news meant, and all chunks until then. */
function readAll(...news: News[]): { readonly last: ReadNews; readonly chunks: readonly unknown[] } {
  const read = replyReader("model", new Set(["old", "old-2"]));
  const heard = news.map((one) => read(create(GenerateResponseSchema, { news: one }).news));
  return {
    last: heard.at(-1) ?? { chunks: [] },
    chunks: heard.flatMap((one) => ("chunks" in one ? one.chunks : [])),
  };
}

test("parts are numbered, deltas add up to their text, and what deltas did not tell is told before the text closes", () => {
  const { chunks } = readAll(thinking, delta("he"), delta("l"), text("hello"), text("bye"), call("read"), end(""));
  expect(chunks).toEqual([
    { kind: "block", block: 0, content: { kind: "thinking", text: "hm", signature: "", redacted: "" } },
    { kind: "delta", block: 1, of: "text", text: "he" },
    { kind: "delta", block: 1, of: "text", text: "l" },
    { kind: "delta", block: 1, of: "text", text: "lo" },
    { kind: "block", block: 1, content: { kind: "text", text: "hello" } },
    { kind: "delta", block: 2, of: "text", text: "bye" },
    { kind: "block", block: 2, content: { kind: "text", text: "bye" } },
    { kind: "block", block: 3, content: { kind: "toolCall", callId: "c1", tool: "read", args: { a: 1 } } },
    {
      kind: "end",
      stop: "calls",
      usage: { inputTokens: 3, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 },
    },
  ]);
});

test.each([
  [[text("a"), end("")], "done"],
  [[text("a"), end("done")], "done"],
  [[call("read"), end("calls")], "calls"],
  [[call("read"), end("done")], "calls"],
  [[text("a"), end("length")], "length"],
  [[end("refused")], "refused"],
])("%# its end is understood", (news, stop) => {
  expect(readAll(...news).chunks.at(-1)).toMatchObject({ kind: "end", stop });
});

test("calls get ids that the conversation has not seen", () => {
  const called = (callId: string): News => ({
    case: "part",
    value: { part: { case: "call", value: { callId, tool: "read" } } },
  });
  const { chunks } = readAll(called("old"), called("new"), called("new"), called(""), called(""));
  expect(chunks).toMatchObject(
    ["old-3", "new", "new-2", "call", "call-2"].map((callId) => ({ content: { callId, args: {} } })),
  );
});

test("nothing at all and news of a newer library are passed over", () => {
  const { chunks } = readAll({ case: undefined }, { case: "part", value: {} }, delta(""), text(""), end(""));
  expect(chunks).toMatchObject([{ kind: "end", stop: "done" }]);
});

test.each([
  [[delta("a"), text("b")], /other words/],
  [[delta("a"), call("read")], /without closing/],
  [[delta("a"), end("done")], /without closing/],
  [[call("")], /without naming a tool/],
  [[{ case: "part", value: { part: { case: "result", value: {} } } } satisfies News], /not a model's to give/],
  [[end("tired")], /no way to end/],
  [[end("calls")], /wants none/],
  [[text("x".repeat(5_000_000)), text("x".repeat(5_000_000))], /more than 8 Mi/],
  [Array.from({ length: 1_001 }, () => text("x")), /1000 parts/],
])("%# what breaks the protocol is a problem", (news, problem) => {
  expect(readAll(...news).last).toEqual({ problem: expect.stringMatching(problem) });
});

test("a failure says who failed and whether to try again", () => {
  const failed = (message: string, retryable: boolean) =>
    readAll({ case: "failure", value: { message, retryable } }).chunks[0];
  expect(failed("busy", true)).toEqual({
    kind: "failed",
    failure: { code: "unavailable", message: "model failed: busy", hint: "say it again" },
  });
  expect(failed("", false)).toMatchObject({
    failure: { code: "invalid", message: "model failed: it does not say why" },
  });
});
