import { expect, test } from "vitest";
import { indentOutput } from "./indent.ts";

function indented(columns: number, ...texts: readonly string[]): string {
  let written = "";
  const output = indentOutput({ isTTY: true, columns, write: (text) => (written += text) }, "  ");
  for (const text of texts) output.write(text);
  return written;
}

test("every line that holds something is indented once, however it was cut into writes", () => {
  expect(indented(80, "a\n\nb", "c\n", "d\n")).toBe("  a\n\n  bc\n  d\n");
});

test("a line that a spinner cleared is indented anew", () => {
  expect(indented(80, "x", "\r\u001b[2K", "y\n")).toBe("  x\r\u001b[2K  y\n");
});

test("lines break at spaces before the terminal would, and colours count nothing", () => {
  const [first, second] = ["a".repeat(30), "b".repeat(30)];
  expect(indented(50, `\u001b[2m${first} ${second}\u001b[0m\n`)).toBe(`\u001b[2m  ${first} \n  ${second}\u001b[0m\n`);
});

test("a quotation stays one where it goes on", () => {
  const [first, second] = ["a".repeat(30), "b".repeat(30)];
  expect(indented(50, `> ${first} ${second}\nnext\n`)).toBe(`  > ${first} \n  > ${second}\n  next\n`);
});
