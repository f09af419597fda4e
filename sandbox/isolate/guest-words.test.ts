import { expect, test } from "vitest";
import { readFromGuest } from "./guest-words.ts";

test.each([
  [{ k: "loaded" }],
  [{ k: "answer", id: 1, value: { pass: true } }],
  [{ k: "threw", id: 2, error: { name: "E", message: "m", stack: "" } }],
  [{ k: "log", to: "stdout", text: "x" }],
  [{ k: "call", id: 3, name: "readFile", args: { path: "x" } }],
  [{ k: "exit", code: 255 }],
])("%j is read as it is", (word) => {
  expect(readFromGuest(JSON.stringify(word))).toEqual(word);
});

test.each([
  ["no JSON", "[[["],
  ["no object", "[1]"],
  ["an unknown kind", '{"k":"root"}'],
  ["an id that is no whole number", '{"k":"answer","id":1.5,"value":1}'],
  ["an id beyond what numbers can tell apart", '{"k":"answer","id":9007199254740993,"value":1}'],
  ["a call of an object's own method", '{"k":"call","id":1,"name":"constructor","args":{}}'],
  ["an exit code that no process has", '{"k":"exit","code":256}'],
  ["an error without a stack", '{"k":"fault","error":{"name":"E","message":"m"}}'],
  ["text to a stream that there is not", '{"k":"log","to":"stdin","text":"x"}'],
  ["a value that is nested too deeply", `{"k":"answer","id":1,"value":${"[".repeat(80)}${"]".repeat(80)}}`],
  ["an answer of more than a megabyte", JSON.stringify({ k: "answer", id: 1, value: "x".repeat(1_100_000) })],
  ["more values than the daemon has time for", `{"k":"call","id":1,"name":"stat","args":[${"1,".repeat(60_000)}1]}`],
  ["a million keys", `{"k":"answer","id":1,"value":{${'"a":1,'.repeat(1e5)}"b":1}}`],
])("%s is not read at all", (_what, text) => {
  expect(readFromGuest(text)).toBeUndefined();
});

test("a large file is read, whatever stands in it", () => {
  const data = `a,b:c[d{"e"}]\\`.repeat(300_000);
  const word = { k: "call", id: 1, name: "writeTextFile", args: { path: "x", data } };
  expect(readFromGuest(JSON.stringify(word))).toEqual(word);
});

test("keys that would change a prototype are dropped, however deep", () => {
  const read = readFromGuest(
    '{"k":"answer","id":1,"value":{"a":[{"__proto__":{"x":1},"b":2}]},"__proto__":{"k":"loaded"}}',
  );
  expect(read).toEqual({ k: "answer", id: 1, value: { a: [{ b: 2 }] } });
});
