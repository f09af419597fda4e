import { expect, test } from "vitest";
import { ourArgs, theirInput, theirToolName } from "./claude-tools.ts";
import { readMatcher } from "./tool-matcher.ts";

test.each([
  ["", "shell", true],
  ["*", "anything", true],
  ["Bash", "shell", true],
  ["shell", "shell", true],
  ["Bash", "bash_history", false],
  ["Bas", "shell", false],
  ["Bash|Write|Edit", "edit", true],
  ["Bash|Write|Edit", "read", false],
  ["Notebook.*|Read", "read", true],
  ["mcp_memory_.*", "mcp_memory_store", true],
  ["mcp_.*_write.*", "mcp_files_write_all", true],
  ["^(Read|Grep)$", "grep", true],
  [".*", "plugin_a_b", true],
])("the matcher %j and the tool %s: %s", (matcher, tool, wanted) => {
  const wants = readMatcher(matcher);
  expect(typeof wants === "string" ? wants : wants(tool)).toBe(wanted);
});

test.each(["(a+)+", "(a|b)*c", "(a){2,}", ".*.*.*.*.*x", "(a)\\1", "(?=a)a", "a".repeat(501), "[", "(?<n>a)\\k<n>"])(
  "%j could take for ever, or is none, and is refused",
  (matcher) => expect(typeof readMatcher(matcher)).toBe("string"),
);

test("the slowest pattern that is let through comes to an end", () => {
  const wants = readMatcher("a*a*a*a*b");
  expect(typeof wants === "string" ? wants : wants("a".repeat(64))).toBe(false);
});

test("tools and their arguments have their names on both sides, and paths are absolute there", () => {
  const args = { path: "src/a.ts", old_text: "x", new_text: "y", all: true };
  const theirs = { file_path: "/w/src/a.ts", old_string: "x", new_string: "y", replace_all: true };
  expect(theirToolName("edit")).toBe("Edit");
  expect(theirInput("edit", args, "/w")).toEqual(theirs);
  expect(ourArgs("edit", { ...theirs, new_string: "z" }, args, "/w")).toEqual({ ...args, new_text: "z" });
  expect(ourArgs("edit", { ...theirs, file_path: "/w/b.ts" }, args, "/w")).toEqual({ ...args, path: "/w/b.ts" });
  expect(theirInput("mcp_x_y", { path: "a" }, "/w")).toEqual({ path: "a" });
  expect(theirToolName("constructor")).toBe("constructor");
});
