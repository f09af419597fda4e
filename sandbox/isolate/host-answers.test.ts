import { expect, test } from "vitest";
import type { CallAnswer } from "../guest/guest-protocol.ts";
import { hostAnswers } from "./host-answers.ts";

const open = hostAnswers(() => "");
const THREE_MIB = Buffer.alloc(3 * 1024 * 1024).toString("base64");

function digestOrder(id: number, data: string): string {
  return JSON.stringify({ id, job: "crypto", method: "digest", args: [{ name: "SHA-1" }, { $bytes: data }] });
}

/** What jobs that are given at once are answered, by their ids. */
async function answered(orders: readonly string[]): Promise<Map<number, CallAnswer>> {
  const answers = open();
  const heard = new Map<number, CallAnswer>();
  await new Promise<void>((resolve) => {
    for (const order of orders) {
      const taken = answers.job(order, (id, answer) => {
        heard.set(id, answer);
        if (heard.size === orders.length) resolve();
      });
      expect(taken).toBe(true);
    }
  });
  return heard;
}

test("what waits for the host is bounded in all, in the order of coming", async () => {
  const heard = await answered(Array.from({ length: 10 }, (_, id) => digestOrder(id, THREE_MIB)));
  const done = [...heard].map(([id, answer]) => `${id} ${answer.ok ? "done" : answer.error.name}`);
  expect(done.slice(0, 5)).toEqual([0, 1, 2, 3, 4].map((id) => `${id} done`));
  expect(done.slice(5)).toEqual([5, 6, 7, 8, 9].map((id) => `${id} QuotaExceededError`));
});

test("what is no job is given up, and so is a 65th that waits", () => {
  const wrong = [
    "",
    "5",
    "{}",
    '{"id":1,"job":"crypto"}',
    '{"id":"1","job":"dropPress","stream":1}',
    '{"id":1,"job":"x"}',
  ];
  expect(wrong.map((text) => open().job(text, () => {}))).toEqual(wrong.map(() => false));
  const answers = open();
  const taken = Array.from({ length: 66 }, (_, id) => answers.job(digestOrder(id, ""), () => {}));
  // One of them is being worked on.
  expect(taken.indexOf(false)).toBe(65);
  answers.close();
});

test("nobody is answered after the end", async () => {
  const answers = open();
  let heard = 0;
  answers.job(digestOrder(1, ""), () => {
    heard += 1;
  });
  answers.close();
  await answered([digestOrder(2, "")]);
  expect(heard).toBe(0);
});
