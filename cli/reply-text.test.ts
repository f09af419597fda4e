import { expect, test } from "vitest";
import { openReplyText } from "./reply-text.ts";

const FIRST = { turnId: "t", step: 1, block: 0 };
const SECOND = { turnId: "t", step: 2, block: 0 };

test("words that came as deltas are not printed again by the event that closes the block", () => {
  const reply = openReplyText();
  const out = [
    reply.delta(FIRST, 0, "Hel"),
    reply.delta(FIRST, 3, "lo"),
    reply.blockEnded(FIRST, "Hello!"),
    reply.finish(),
  ];
  expect(out).toEqual(["Hel", "lo", "!\n", ""]);
});

test("a block without deltas is printed by its event", () => {
  const reply = openReplyText();
  expect(reply.blockEnded(FIRST, "Hello") + reply.finish()).toBe("Hello\n");
});

test("lost, doubled and overlapping deltas still give each word once", () => {
  const text = "The quick brown fox jumps over the lazy dog";
  const deltas = Array.from(text, (letter, offset) => ({ letter, offset }));
  for (let seed = 1; seed <= 200; seed++) {
    let state = seed;
    const chance = (): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    const reply = openReplyText();
    let out = "";
    for (const { offset } of deltas) {
      if (chance() < 0.2) continue;
      const from = Math.max(0, offset - Math.floor(chance() * 4));
      out += reply.delta(FIRST, from, text.slice(from, offset + 1 + Math.floor(chance() * 3)));
    }
    out += reply.blockEnded(FIRST, text) + reply.finish();
    expect(out).toBe(`${text}\n`);
  }
});

test("steps are set apart by one newline", () => {
  const reply = openReplyText();
  const out =
    reply.delta(FIRST, 0, "one") + reply.blockEnded(FIRST, "one") + reply.delta(SECOND, 0, "two") + reply.finish();
  expect(out).toBe("one\ntwo\n");
});

test("a text that ends with a newline gets no second one", () => {
  const reply = openReplyText();
  expect(reply.blockEnded(FIRST, "one\n") + reply.blockEnded(SECOND, "two\n") + reply.finish()).toBe("one\ntwo\n");
});

test("an answer that was streamed anew after a restart goes on where it was", () => {
  const reply = openReplyText();
  expect(reply.delta(FIRST, 0, "Hello wor")).toBe("Hello wor");
  expect(reply.delta(FIRST, 0, "Hello ")).toBe("");
  expect(reply.delta(FIRST, 6, "world")).toBe("ld");
  expect(reply.blockEnded(FIRST, "Hello world")).toBe("\n");
});

test("an answer that became another one after a restart starts on a line of its own", () => {
  const reply = openReplyText();
  expect(reply.delta(FIRST, 0, "Hello")).toBe("Hello");
  expect(reply.delta(FIRST, 0, "Good day")).toBe("\nGood day");
  expect(reply.blockEnded(FIRST, "Good day!")).toBe("!\n");
});
