import { expect, test } from "vitest";
import { vectorOf } from "../../../tests/kit/embedding-server.ts";
import { tool } from "../../../tests/kit/session-house.ts";
import type { Embedder } from "../../domain/embedder.ts";
import { fail, ok, type Result } from "../../domain/failure.ts";
import { openToolLikeness } from "./tool-likeness.ts";

const DIMENSIONS = 64;
const open = new AbortController().signal;
const made = (name: string, description: string) =>
  tool(name, async () => ({ status: "done", output: "" }), { description });
const TEA = made("kettle", "boils water for tea");
const SHIP = made("harbour", "lists ships that arrive");

/** An embedder of word counts that tells what it was asked, and may be told to fail. */
function counting(id = "count") {
  const asked: string[][] = [];
  let answer = (texts: readonly string[]): Promise<Result<readonly Float32Array[]>> =>
    Promise.resolve(ok(texts.map((text) => Float32Array.from(vectorOf(text, DIMENSIONS)))));
  const embedder: Embedder = {
    id,
    dimensions: DIMENSIONS,
    embed(texts, kind) {
      asked.push([kind, ...texts]);
      return answer(texts);
    },
  };
  return { embedder, asked, answerWith: (other: typeof answer) => (answer = other) };
}

const over = (embedder: () => Embedder) =>
  openToolLikeness({
    embedder: async () => ok(embedder()),
    complain: (cause) => {
      throw cause;
    },
  });

test("the tool that says what the words say is the nearest, and is embedded once for each form of its definition", async () => {
  const { embedder, asked } = counting();
  const { likeness } = over(() => embedder);
  const near = await likeness("boil some water for tea", [TEA, SHIP], open);
  if (!near.ok) throw new Error(near.failure.message);
  expect(near.value.get("kettle")).toBeGreaterThan(near.value.get("harbour") ?? 1);
  expect(near.value.get("kettle")).toBeLessThanOrEqual(1);
  await likeness("ships", [TEA, SHIP], open);
  const documents = () => asked.filter(([kind]) => kind === "document");
  expect(documents()).toEqual([["document", "kettle: boils water for tea", "harbour: lists ships that arrive"]]);
  await likeness("ships", [TEA, made("harbour", "lists ships that leave")], open);
  expect(documents().at(-1)).toEqual(["document", "harbour: lists ships that leave"]);
});

test("another embedder makes all vectors anew", async () => {
  const [one, two] = [counting("one"), counting("two")];
  let current = one.embedder;
  const { likeness } = over(() => current);
  await likeness("tea", [TEA], open);
  current = two.embedder;
  expect(await likeness("tea", [TEA], open)).toMatchObject({ ok: true });
  expect(two.asked).toContainEqual(["document", "kettle: boils water for tea"]);
});

test("an embedder that fails for the words fails; one that fails for the tools leaves them without likeness until it does not", async () => {
  const { embedder, answerWith } = counting();
  const { likeness } = over(() => embedder);
  const works = (texts: readonly string[]) =>
    Promise.resolve(ok(texts.map((text) => Float32Array.from(vectorOf(text, DIMENSIONS)))));
  answerWith(async () => fail("unavailable", "the endpoint is down"));
  expect(await likeness("tea", [TEA], open)).toMatchObject({ failure: { message: "the endpoint is down" } });
  answerWith((texts) => (texts[0]?.startsWith("kettle") ? Promise.resolve(fail("unavailable", "no")) : works(texts)));
  expect(await likeness("tea", [TEA], open)).toEqual(ok(new Map()));
  answerWith(works);
  expect(await likeness("tea", [TEA], open)).toMatchObject({
    ok: true,
    value: new Map([["kettle", expect.any(Number)]]),
  });
});

test("tools whose vectors take longer than the turn waits are absent, and there the next time", async () => {
  const { embedder, answerWith } = counting();
  const { likeness } = over(() => embedder);
  const slow = Promise.withResolvers<void>();
  const hurry = new AbortController();
  answerWith(async (texts) => {
    if (texts[0]?.startsWith("kettle")) await slow.promise;
    else hurry.abort();
    return ok(texts.map((text) => Float32Array.from(vectorOf(text, DIMENSIONS))));
  });
  expect(await likeness("tea", [TEA], hurry.signal)).toEqual(ok(new Map()));
  slow.resolve();
  expect(await likeness("tea", [TEA], open)).toMatchObject({ value: new Map([["kettle", expect.any(Number)]]) });
});

test("no embedder is told as it was", async () => {
  const { likeness } = openToolLikeness({
    embedder: async () => fail("unavailable", "texts cannot be embedded"),
    complain: () => {},
  });
  expect(await likeness("tea", [TEA], open)).toMatchObject({ failure: { message: "texts cannot be embedded" } });
});
