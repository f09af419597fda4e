import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { MemoryHitSchema } from "../proto/gen/clawd/v1/admin_pb.ts";
import { hitLines } from "./hit-lines.ts";
import type { Paint } from "./screen.ts";

const painted: Paint = (style, text) => `<${style}>${text}</${style}>`;
const plain: Paint = (_style, text) => text;

function lines(init: MessageInitShape<typeof MemoryHitSchema>, paint = plain, why = false): string {
  return hitLines(
    create(MemoryHitSchema, { memoryId: "m", score: 0.0328, author: "file", ...init }),
    "/work",
    paint,
    why,
  );
}

test("a hit shows its place, its heading, whose words it is and what matched", () => {
  const snippet = {
    text: "the blue\n  door and the key",
    marks: [
      { start: 4, end: 8 },
      { start: 24, end: 27 },
    ],
  };
  const shown = lines({ kind: "file", path: "/work/a.md", line: 3, title: "House > Doors", snippet }, painted);
  expect(shown).toBe(
    "<cyan>a.md:3</cyan> <bold>House > Doors</bold> <dim>(file, 0.0328)</dim>\n" +
      "  the <yellow>blue</yellow> door and the <yellow>key</yellow>\n",
  );
});

test.each([
  [{ kind: "note", memoryId: "n1", author: "agent" }, "note n1 (agent, 0.0328)"],
  [{ kind: "conversation", sessionId: "s1", author: "owner", title: "user, 1 May" }, "session s1 (owner, 0.0328)"],
  [{ kind: "pdf", path: "/else/b.pdf", page: 2, line: 9 }, "/else/b.pdf page 2 (file, 0.0328)"],
  [{ kind: "document", path: "plugin:x/y/1", author: "stranger" }, "plugin:x/y/1 (stranger, 0.0328)"],
])("%j has a place of its kind", (init, first) => {
  expect(lines(init).split("\n")[0]).toBe(first);
});

test("asked why, it says what each leg saw and what the score was multiplied with", () => {
  const reason = { lexical: { rank: 2, score: 7.5 }, recency: 0.5, importance: 1.25, folded: ["n2", "n3"] };
  expect(lines({ kind: "note", reason }, plain, true)).toContain(
    "why: words: place 2 with 7.500, vector: not seen, age ×0.50, importance ×1.25, stands for n2 n3 too\n",
  );
  expect(lines({ kind: "note", reason })).not.toContain("why");
});

test("nothing in a hit can steer a terminal, not even beside a mark", () => {
  const text = "a\u001b[2Jb\u202ec";
  const shown = lines({
    path: "/x\u001b]0;y\u0007",
    title: "t\u001b[1m",
    snippet: { text, marks: [{ start: 1, end: 5 }] },
  });
  expect(shown.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u);
});
