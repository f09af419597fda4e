import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { type JsonRpcWire, openJsonRpcWire } from "./json-rpc-wire.ts";

function open(): { wire: JsonRpcWire; stdin: PassThrough; stdout: PassThrough; noise: string[] } {
  const [stdin, stdout, noise] = [new PassThrough(), new PassThrough(), [] as string[]];
  stdin.resume();
  return { wire: openJsonRpcWire({ stdin, stdout }, (line) => noise.push(line)), stdin, stdout, noise };
}

const never = new AbortController().signal;

test("an answer may come in any pieces, also in the middle of a character", async () => {
  const { wire, stdout } = open();
  const reply = wire.request("say", {}, never);
  for (const byte of Buffer.from(`${JSON.stringify({ id: 1, result: "grün 日本" })}\n`))
    stdout.write(Buffer.from([byte]));
  expect(await reply).toEqual({ is: "result", result: "grün 日本" });
});

test("several answers in one piece each find their request", async () => {
  const { wire, stdout } = open();
  const first = wire.request("one", {}, never);
  const second = wire.request("two", {}, never);
  stdout.write('{"id":1,"result":1}\n');
  expect(await first).toEqual({ is: "result", result: 1 });
  stdout.write('{"id":1,"result":"again"}\nnoise\n{"id":2,"result":2}\n');
  expect(await second).toEqual({ is: "result", result: 2 });
});

test("whoever gives up while waiting in line is never sent", async () => {
  const { wire, stdin, stdout } = open();
  const sent: string[] = [];
  stdin.on("data", (chunk: Buffer) => sent.push(chunk.toString()));
  const first = wire.request("one", {}, never);
  const giveUp = new AbortController();
  const second = wire.request("two", {}, giveUp.signal);
  const third = wire.request("three", {}, never);
  giveUp.abort();
  await expect(second).rejects.toMatchObject({ kind: "cancelled" });
  stdout.write('{"id":1,"result":1}\n');
  await first;
  stdout.write('{"id":2,"result":3}\n');
  expect(await third).toEqual({ is: "result", result: 3 });
  expect(sent.join("")).not.toContain("two");
});

test("the line in front of a plugin has an end", async () => {
  const { wire } = open();
  const waiting = Array.from({ length: 257 }, () => wire.request("one", {}, never));
  await expect(wire.request("one", {}, never)).rejects.toMatchObject({ kind: "broken" });
  wire.close("enough");
  for (const one of waiting) await expect(one).rejects.toMatchObject({ kind: "broken", message: "enough" });
});

test("no bytes whatsoever break it", async () => {
  let seed = 20260801;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % below;
  };
  const words = [
    '{"id":1',
    ',"result":',
    '"error":{}',
    "}",
    "\n",
    "\0",
    "ÿ",
    "[",
    '"',
    "\\u",
    "1e999",
    "null",
    '{"id":null}\n',
  ];
  const { wire, stdout } = open();
  for (let round = 0; round < 2000; round++) {
    const length = random(8);
    const bytes =
      random(2) === 0
        ? Buffer.from(Array.from({ length }, () => words[random(words.length)] ?? "").join(""))
        : Buffer.from(Array.from({ length }, () => random(256)));
    stdout.write(bytes);
  }
  wire.close("over");
  await expect(wire.request("one", {}, never)).rejects.toMatchObject({ kind: "broken" });
  const fresh = open();
  const reply = fresh.wire.request("say", {}, never);
  fresh.stdout.write('\n\n{"id":1,"result":"well"}\n');
  expect(await reply).toEqual({ is: "result", result: "well" });
});
