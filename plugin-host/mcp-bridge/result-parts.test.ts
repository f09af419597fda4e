import type { JsonValue } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import type { Host, ResultPart } from "../sdk/plugin.ts";
import {
  MAX_ANSWER_BYTES,
  MAX_ARTIFACTS,
  MAX_FAILURE_CHARS,
  MAX_PARTS,
  partsOf,
  resourceParts,
  textOf,
} from "./result-parts.ts";

function openKeeper() {
  const kept: number[] = [];
  const artifacts = {
    async write(bytes: Uint8Array) {
      kept.push(bytes.byteLength);
      return { id: `a${kept.length}` };
    },
  };
  return { kept, host: { artifacts } as unknown as Host };
}

const text = (words: string) => ({ type: "text", text: words });
const image = (bytes: number) => ({
  type: "image",
  mimeType: "image/png",
  data: Buffer.alloc(bytes).toString("base64"),
});
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
const last = (parts: readonly ResultPart[]) => String(parts.at(-1));

test("a small answer comes back whole, in its order", async () => {
  const { host } = openKeeper();
  const content: JsonValue = [text("a"), image(3), { type: "resource_link", uri: "u:1", name: "n" }, text("b")];
  expect(await partsOf({ content }, host)).toEqual(["a", { artifact: "a1" }, "[resource u:1, n]", "b"]);
});

test("of two hundred thousand blocks as many as there may be are passed on, and the others are counted", async () => {
  const { host } = openKeeper();
  const parts = await partsOf({ content: times(200_000, text("x")) }, host);
  expect(parts.length).toBe(MAX_PARTS + 1);
  expect(last(parts)).toContain(`${200_000 - MAX_PARTS} × text`);
});

test("of five thousand images a few are kept, and texts between them still come through", async () => {
  const { host, kept } = openKeeper();
  const parts = await partsOf({ content: [...times(5_000, image(10)), text("the end")] }, host);
  expect(kept.length).toBe(MAX_ARTIFACTS);
  expect(parts).toContain("the end");
  expect(last(parts)).toContain(`${5_000 - MAX_ARTIFACTS} × image`);
});

test("an answer has room for so many bytes, whatever they are", async () => {
  const { host, kept } = openKeeper();
  const half = MAX_ANSWER_BYTES / 2;
  const parts = await partsOf({ content: [image(half), text("x".repeat(half)), image(1), text("y")] }, host);
  expect(kept).toEqual([half]);
  expect(parts.length).toBe(3);
  expect(last(parts)).toContain("1 × image, 1 × text");
});

test("blocks without a word are no way around it", async () => {
  const { host } = openKeeper();
  const parts = await partsOf({ content: times(300_000, text("")) }, host);
  expect(parts.length).toBeLessThanOrEqual(MAX_PARTS + 1);
  const strange = await partsOf({ content: [], other: "x".repeat(MAX_ANSWER_BYTES) }, host);
  expect(strange).toEqual([expect.stringContaining("1 × other")]);
});

test("a resource in a thousand pieces is read within the same limits", async () => {
  const { host, kept } = openKeeper();
  const blob = Buffer.alloc(4).toString("base64");
  const parts = await resourceParts(times(1_000, { uri: "u:1", blob }), host);
  expect(kept.length).toBe(MAX_ARTIFACTS);
  expect(last(parts)).toContain(`${1_000 - MAX_ARTIFACTS} × resource`);
});

test("a failure says as much as a message has room for", () => {
  expect(textOf({ content: [text("no"), text("really")] })).toBe("no\nreally");
  expect(textOf({ content: times(200_000, text("no")) }).length).toBeLessThan(MAX_FAILURE_CHARS + 10);
  expect(textOf({ content: [], why: "x".repeat(MAX_FAILURE_CHARS * 2) }).length).toBeLessThan(MAX_FAILURE_CHARS + 10);
});
