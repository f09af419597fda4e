import { expect, test } from "vitest";
import { chunkText } from "./chunker.ts";

test("Markdown is cut at headings, and a chunk knows the headings above it", () => {
  const text = "intro\n\n# One\n## Two\n\ntext of two\n\n```sh\n# no heading\n```\n## Three\nlast\n# Four\n";
  expect(chunkText(text, "markdown")).toEqual([
    { line: 1, column: 0, headings: [], text: "intro" },
    { line: 3, column: 0, headings: ["One", "Two"], text: "# One\n## Two\n\ntext of two\n\n```sh\n# no heading\n```" },
    { line: 11, column: 0, headings: ["One", "Three"], text: "## Three\nlast" },
    { line: 13, column: 0, headings: ["Four"], text: "# Four" },
  ]);
});

test.each(["markdown", "plain"] as const)(
  "no line of a %s text is lost, no chunk is over the limit, line numbers are right",
  (form) => {
    const lines = Array.from({ length: 900 }, (_, index) =>
      index % 7 === 3 ? "" : `${index} ${"x".repeat((index * 37) % 300)}`,
    );
    lines[450] = `450 ${"😀".repeat(2_000)}`;
    const chunks = chunkText(lines.join("\r\n"), form);
    expect(Math.max(...chunks.map((chunk) => chunk.text.length))).toBeLessThanOrEqual(1_500);
    for (const chunk of chunks) {
      const first = chunk.text.split("\n")[0] ?? "";
      expect(lines[chunk.line - 1]?.slice(chunk.column, chunk.column + first.length)).toBe(first);
    }
    const covered = chunks
      .map((chunk) => chunk.text)
      .join("")
      .replaceAll("\n", "");
    expect(covered).toBe(lines.join(""));
    expect(covered.isWellFormed()).toBe(true);
  },
);

test("plain text is cut after 40 lines, and nothing gives nothing", () => {
  expect(chunkText("a\n".repeat(100), "plain").map(({ line }) => line)).toEqual([1, 41, 81]);
  expect(chunkText("\n \n\t\n", "plain")).toEqual([]);
});
