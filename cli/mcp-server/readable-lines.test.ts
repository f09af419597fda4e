import { once } from "node:events";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { readableLines } from "./readable-lines.ts";

const LIMIT_BYTES = 1_000;
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';

/** What goes on of these chunks, and what is answered here. */
async function pass(...chunks: readonly string[]): Promise<{ readonly on: string; readonly answered: string }> {
  const answers = new PassThrough();
  const lines = readableLines(answers, LIMIT_BYTES);
  const [on, answered] = [text(lines), text(answers)];
  for (const chunk of chunks) lines.write(chunk);
  lines.end();
  const went = await on;
  answers.end();
  return { on: went, answered: await answered };
}

test("messages go on whole, in whatever pieces they come, and so does what nobody waits for an answer to", async () => {
  const rest = `garbage\n{"id":1}\n{"jsonrpc":"2.0","method":7}\n[${PING.trim()}]\n`;
  expect(await pass(PING.slice(0, 7), PING.slice(7) + PING, rest)).toEqual({ on: PING + PING + rest, answered: "" });
});

test("a request that the library cannot read is answered under its id, and those around it go on", async () => {
  const wrong = '{"jsonrpc":"2.0","id":"w","method":"tools/list","params":{"_meta":null}}\n';
  const { on, answered } = await pass(PING + wrong + PING);
  expect(on).toBe(PING + PING);
  expect(JSON.parse(answered)).toMatchObject({ id: "w", error: { code: -32600 } });
});

test("an id that is none cannot be answered", async () => {
  const wrong = '{"jsonrpc":"2.0","id":0.5,"method":"ping"}\n{"jsonrpc":"2.0","id":null,"method":"ping"}\n';
  expect(await pass(wrong)).toEqual({ on: wrong, answered: "" });
});

test("a line that is longer than the limit goes on in pieces and is not kept", async () => {
  const long = "x".repeat(LIMIT_BYTES / 2);
  expect((await pass(long, long, long)).on).toBe(long + long + long);
});

test("nothing more is taken in from a client that does not read its answers", async () => {
  const answers = new PassThrough({ highWaterMark: 1 });
  const lines = readableLines(answers, LIMIT_BYTES);
  lines.resume();
  answers.write("an answer that is not read\n");
  let isTakenIn = false;
  lines.write(PING, () => {
    isTakenIn = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isTakenIn).toBe(false);
  const drained = once(answers, "drain");
  answers.resume();
  await drained;
  await new Promise((resolve) => setImmediate(resolve));
  expect(isTakenIn).toBe(true);
});
