import { expect, test } from "vitest";
import { PIECE_LIMIT_CHARS, type Piece } from "./block-packer.ts";
import { chunkCode } from "./code-chunker.ts";
import { chunkText } from "./file-form.ts";
import { chunkMarkdown, chunkProse } from "./prose-chunker.ts";
import { chunkTable } from "./table-chunker.ts";

const FORMS = ["markdown", "code", "table", "prose"] as const;

const brief = (pieces: readonly Piece[]) => pieces.map(({ line, title, text }) => [line, title, text]);

test("Markdown is cut at headings, and a piece knows the headings above it", () => {
  const text = "intro\n\n# One\n## Two ##\n\ntext of two\n\n```sh\n# no heading\n```\n## Three C#\nlast\nFour\n====\n";
  expect(brief(chunkMarkdown(text))).toEqual([
    [1, "", "intro"],
    [3, "One › Two", "# One\n## Two ##\n\ntext of two\n\n```sh\n# no heading\n```"],
    [11, "One › Three C#", "## Three C#\nlast\nFour\n===="],
  ]);
});

test("a heading underlined is a heading, a rule and front matter are none", () => {
  const text = "---\ntitle: x\n---\n\nTop\n===\n\nwords\n\n---\n\nSub\n---\nmore\n";
  expect(brief(chunkMarkdown(text))).toEqual([
    [1, "", "---\ntitle: x\n---"],
    [5, "Top", "Top\n===\n\nwords\n\n---"],
    [12, "Top › Sub", "Sub\n---\nmore"],
  ]);
});

test("a fenced block that fits is not cut, and a list is cut between its items", () => {
  const fence = `\`\`\`js\n${"const x = 1;\n\n".repeat(60)}\`\`\``;
  const items = Array.from({ length: 30 }, (_, index) => `- item ${index} ${"word ".repeat(15)}`);
  const pieces = chunkMarkdown(`${"before ".repeat(90)}\n\n${fence}\n\n${items.join("\n")}`);
  expect(pieces.some(({ text }) => text.includes(fence))).toBe(true);
  expect(pieces.slice(2).every(({ text }) => text.startsWith("- item"))).toBe(true);
});

test("the pieces of a long table are told by its header row", () => {
  const rows = Array.from({ length: 100 }, (_, index) => `| row ${index} | ${"v".repeat(30)} |`);
  const pieces = chunkMarkdown(`# Prices\n\n| Name | Value |\n|---|---|\n${rows.join("\n")}`);
  expect(pieces.length).toBeGreaterThan(2);
  expect(pieces.map(({ title }) => title)).toEqual([
    "Prices",
    ...pieces.slice(1).map(() => "Prices › | Name | Value |"),
  ]);
  expect(new Set(chunkTable(`name,value\n${"a,1\n".repeat(900)}`).map(({ title }) => title))).toEqual(
    new Set(["name,value"]),
  );
});

const body = (name: string, lines: number) =>
  Array.from({ length: lines }, (_, index) => `  const ${name}${index} = compute(${index}); // ${"x".repeat(30)}`).join(
    "\n",
  );

test("code is cut at declarations, and comments stay with what they stand above", () => {
  const text = [
    'import { a } from "a";',
    'import { b } from "b";',
    "",
    "/**",
    " * Adds numbers.",
    " */",
    "export function add(left: number): number {",
    body("add", 8),
    "}",
    "",
    "// Takes them away.",
    "// Really.",
    "function subtract(",
    "  right: number,",
    ") {",
    body("sub", 8),
    "}",
  ].join("\n");
  const pieces = chunkCode(text);
  expect(pieces.map(({ title }) => title)).toEqual(["export function add(left: number): number", "function subtract"]);
  expect(pieces[1]?.text.startsWith("// Takes them away.\n// Really.\nfunction subtract(")).toBe(true);
  expect(pieces[1]?.line).toBe(18);
});

test("a class that is too long is cut at its methods, which know their class", () => {
  const method = (name: string) =>
    `    def ${name}(self):\n        """Says ${name}."""\n${body(name, 12)
      .split("\n")
      .map((line) => `      ${line}`)
      .join("\n")}`;
  const pieces = chunkCode(`class Store(Base):\n${["load", "save", "drop"].map(method).join("\n\n")}\n`);
  expect(pieces.map(({ title }) => title)).toEqual([
    "class Store(Base) › def load(self)",
    "class Store(Base) › def save(self)",
    "class Store(Base) › def drop(self)",
  ]);
});

test.each(FORMS)("no line of a %s text is lost, no piece is too long, places are right", (form) => {
  const lines = Array.from({ length: 900 }, (_, index) =>
    index % 7 === 3 ? "" : `${" ".repeat((index * 13) % 5)}${index} ${"x".repeat((index * 37) % 300)}`,
  );
  lines[450] = `450 ${"😀".repeat(2_000)}`;
  lines[500] = "# 500";
  lines[600] = "```";
  const pieces = chunkText(lines.join("\r\n"), form);
  expect(Math.max(...pieces.map(({ text }) => text.length))).toBeLessThanOrEqual(PIECE_LIMIT_CHARS);
  for (const { line, column, text } of pieces) {
    const first = text.split("\n")[0] ?? "";
    expect(lines[line - 1]?.slice(column, column + first.length)).toBe(first);
  }
  const covered = pieces.map(({ text }) => text).join("\n");
  expect(covered.replaceAll("\n", "")).toBe(lines.join(""));
  expect(covered.isWellFormed()).toBe(true);
});

const MIB = 1_048_576;
const HOSTILE: readonly (readonly [string, string])[] = [
  ["one line without an end", "x".repeat(10 * MIB)],
  ["one line of emoji", "😀".repeat(MIB)],
  ["newlines only", "\n".repeat(2 * MIB)],
  ["a million headings", "# a\n".repeat(1_000_000)],
  ["many headings with a word", "# a\nb\n".repeat(200_000)],
  ["a heading of marks", `# ${"#".repeat(MIB)}\n`.repeat(5)],
  ["rules only", "---\n".repeat(200_000)],
  ["open fences", "~~~~\n```\n".repeat(100_000)],
  ["paragraphs of a letter", "a\n\n".repeat(300_000)],
  ["table rules", `a|b\n${"|-".repeat(120)}x\n`.repeat(20_000)],
  ["deep indentation", Array.from({ length: 4_000 }, (_, index) => " ".repeat(index)).join("{\n")],
  ["functions without a body", "function f() {\n}\n".repeat(80_000)],
  ["comments only", "// c\n".repeat(200_000)],
  ["spaces", " ".repeat(2 * MIB)],
];

test.each(HOSTILE)("%s is cut in linear time into a bounded number of pieces", { timeout: 60_000 }, (_, text) => {
  for (const form of FORMS) {
    const pieces = chunkText(text, form);
    expect(pieces.length).toBeLessThan(4_200 + text.length / 400);
    expect(pieces.every((piece) => piece.text.length <= PIECE_LIMIT_CHARS)).toBe(true);
  }
});

test("nothing gives nothing", () => {
  for (const form of FORMS) {
    expect(chunkText("", form)).toEqual([]);
    expect(chunkText("\n \n\t\r\n", form)).toEqual([]);
  }
  expect(chunkProse("a\n\nb").map(({ text }) => text)).toEqual(["a\n\nb"]);
});
