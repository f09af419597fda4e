import { expect, test } from "vitest";
import { readWishes } from "./rehearsal-words.ts";

const read = (path: string) => ({ tool: "read", path });
const list = (path: string) => ({ tool: "list", path });
const run = (command: string) => ({ tool: "shell", command });

test.each([
  ["read notes.md", [[read("notes.md")]]],
  ['Please read "docs/my file.md"', [[read("docs/my file.md")]]],
  ["what is in notes.md?", [[read("notes.md")]]],
  ["What does src/main.ts do?", [[read("src/main.ts")]]],
  ["show me README.md, please", [[read("README.md")]]],
  ["summarize docs/a.b.md.", [[read("docs/a.b.md")]]],
  ["list", [[list(".")]]],
  ["list src/", [[list("src/")]]],
  ["list the files in src", [[list("src")]]],
  ["which files are here?", [[list(".")]]],
  ["grep TODO|FIXME", [[{ tool: "grep", pattern: "TODO|FIXME" }]]],
  ["search BM25 ranking", [[{ tool: "memory_search", query: "BM25 ranking" }]]],
  ["search memory for the harbour.", [[{ tool: "memory_search", query: "the harbour" }]]],
  ["what do you know about fish?", [[{ tool: "memory_search", query: "fish" }]]],
  ["remember that it's Anna's birthday", [[{ tool: "remember", text: "it's Anna's birthday" }]]],
  ["write a.txt: hello; world", [[{ tool: "write", path: "a.txt", content: "hello; world" }]]],
  ["write a.txt hello", [[{ tool: "write", path: "a.txt", content: "hello" }]]],
  ["run ls -la | head", [[run("ls -la | head")]]],
  ["run echo a; cat b & sleep 1", [[run("echo a; cat b & sleep 1")]]],
  ['run "read x; read y"', [[run("read x; read y")]]],
  ["call greet", [[{ tool: "call", name: "greet", args: {} }]]],
  [
    'call greet {"name":"A; read x"} then read b',
    [[{ tool: "call", name: "greet", args: { name: "A; read x" } }], [read("b")]],
  ],
  ["read a then list b and then run c", [[read("a")], [list("b")], [run("c")]]],
  ["read a; read b\nread c", [[read("a")], [read("b")], [read("c")]]],
  [
    "read a & read b, then read c & read d",
    [
      [read("a"), read("b")],
      [read("c"), read("d")],
    ],
  ],
  ["write a.txt: one\ntwo\nread a.txt", [[{ tool: "write", path: "a.txt", content: "one\ntwo" }], [read("a.txt")]]],
])("%j is understood", (words, steps) => {
  expect(readWishes(words)).toEqual(steps);
});

test.each(["", "hello", "what can you do?", "what is 2.5 plus 3?", "tell me a joke", "I like fish.", "then", ";;;"])(
  "%j is no command",
  (words) => {
    expect(readWishes(words)).toEqual([]);
  },
);

test.each(["call greet {bad", "call greet [1]", 'call greet {"a":1} and more'])(
  "%j says what is wrong with its JSON",
  (words) => {
    expect(readWishes(words)).toEqual([
      [{ tool: "broken", problem: expect.stringContaining("the arguments of greet") }],
    ]);
  },
);
