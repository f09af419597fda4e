import { expect, test } from "vitest";
import { type LentAnswer, lentModels } from "./lent-models.ts";

const WANTED = {
  system: "",
  messages: [{ role: "user", content: [{ kind: "text", text: "sing" }] }],
  maxTokens: 9,
} as const;
const ANSWER: LentAnswer = { problem: "", text: "la", stop: "length", model: "theirs", tokens: 7 };

async function begin(signal: AbortSignal) {
  let ids = 0;
  const models = lentModels(() => {
    ids += 1;
    return `id${ids}`;
  });
  const news = models.lend(signal);
  const first = (await news.next()).value;
  if (first?.kind !== "lender") throw new Error("the lender comes first");
  const model = models.take(first.lenderId);
  if (model === undefined) throw new Error("the lender is not found");
  return { models, news, model, lenderId: first.lenderId };
}

test("a lent model answers what it was asked, once, and what nobody waits for is not heard", async () => {
  const { models, news, model } = await begin(new AbortController().signal);
  const said = model(WANTED, new AbortController().signal);
  const wish = (await news.next()).value;
  if (wish?.kind !== "wish") throw new Error("there is no wish");
  expect(wish.wanted).toEqual(WANTED);
  expect(models.answer(wish.wishId, ANSWER).ok).toBe(true);
  expect(await said).toEqual({
    said: { ok: true, value: { text: "la", stop: "length", model: "lent/theirs" } },
    tokens: 7,
  });
  expect(models.answer(wish.wishId, ANSWER)).toMatchObject({ ok: false, failure: { code: "not_found" } });
});

test("a lender that goes away, or one that says no, ends what was asked, and it is found no more", async () => {
  const gone = new AbortController();
  const { models, news, model, lenderId } = await begin(gone.signal);
  const refused = model(WANTED, new AbortController().signal);
  const wish = (await news.next()).value;
  if (wish?.kind === "wish") models.answer(wish.wishId, { ...ANSWER, problem: "no credit", tokens: undefined });
  expect(await refused).toMatchObject({ said: { failure: { code: "unavailable" } }, tokens: 0 });
  const open = model(WANTED, new AbortController().signal);
  gone.abort();
  expect(await open).toMatchObject({
    said: { failure: { code: "cancelled", message: expect.stringContaining("gone") } },
  });
  while (!(await news.next()).done);
  expect(models.take(lenderId)).toBeUndefined();
});

test("a lender is good for one call: who names it again gets no model", async () => {
  const { models, news, lenderId } = await begin(new AbortController().signal);
  expect(models.take(lenderId)).toBeUndefined();
  expect(models.take("")).toBeUndefined();
  await news.return();
});

test("what is not waited for any more is not asked", async () => {
  const { news, model } = await begin(new AbortController().signal);
  const given = new AbortController();
  const said = model(WANTED, given.signal);
  given.abort();
  expect(await said).toMatchObject({ said: { failure: { code: "cancelled" } } });
  const next = model(WANTED, new AbortController().signal);
  const wish = (await news.next()).value;
  expect(wish).toMatchObject({ kind: "wish", wishId: "id3" });
  await news.return();
  expect((await next).said.ok).toBe(false);
});
