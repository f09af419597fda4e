import type { JsonObject } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { checkRulePattern, judge, matchesRule, type Rule } from "./policy.ts";
import type { Tool, ToolCategory } from "./tool.ts";

function tool(name: string, category: ToolCategory, aliases: readonly string[] = []): Tool {
  const run = async () => ({ status: "done", output: "" }) as const;
  return { name, description: "", input: {}, aliases, category, rerun: "safe", timeoutMs: 1000, needs: () => [], run };
}

const shell = tool("shell", "shell", ["bash"]);
const read = tool("read", "file_read");
const write = tool("write", "file_write");
const greet = tool("plugin_hello_greet", "plugin");

test.each<[string, Tool, JsonObject, boolean]>([
  ["shell", shell, { command: "ls" }, true],
  ["bash", shell, { command: "ls" }, true],
  ["*", write, { path: "a" }, true],
  ["sh", shell, { command: "ls" }, false],
  ["shell:git *", shell, { command: "git status" }, true],
  ["shell:git *", shell, { command: "git" }, false],
  ["shell:git *", shell, { command: "git status; rm -rf ~" }, false],
  ["shell:git *", shell, { command: "git log | sh" }, false],
  ["shell:git *", shell, { command: "git log $(rm x)" }, false],
  ["shell:git *", shell, { command: "git log `rm x`" }, false],
  ["shell:git *", shell, { command: "git log\nrm x" }, false],
  ["shell:git *", shell, { command: "git log > /etc/passwd" }, false],
  ["shell:git log | wc", shell, { command: "git log | wc" }, true],
  ["shell:*", shell, { command: "a; b" }, true],
  ["write:docs/*", write, { path: "docs/a.md" }, true],
  ["write:docs/*", write, { path: "src/docs/a.md" }, false],
  ["write:*.md", write, { path: "docs/a.md" }, true],
  ["write:a*a", write, { path: "a" }, false],
  ["write:*a*b*", write, { path: "xaxb" }, true],
  ["write:*b*a*", write, { path: "ab" }, false],
  ["plugin_hello_*", greet, { name: "x" }, true],
  ['plugin_hello_greet:{"name":*}', greet, { name: "x" }, true],
])("pattern %s", (pattern, subject, args, matches) => {
  expect(matchesRule(pattern, subject, args)).toBe(matches);
});

test("the strictest rule wins, whatever the order", () => {
  const rules: Rule[] = [
    { pattern: "shell:rm *", verdict: "deny" },
    { pattern: "shell", verdict: "allow" },
    { pattern: "*", verdict: "ask" },
  ];
  for (const policy of [rules, rules.toReversed()]) {
    expect(judge(policy, shell, { command: "rm x" }).verdict).toBe("deny");
    expect(judge(policy, shell, { command: "ls" }).verdict).toBe("ask");
    expect(judge(policy, read, { path: "x" }).verdict).toBe("ask");
  }
});

test("without a rule, looking is allowed and acting needs a yes", () => {
  expect(judge([], read, {}).verdict).toBe("allow");
  for (const acting of [write, shell, greet]) expect(judge([], acting, {}).verdict).toBe("ask");
});

test.each(["", "shell ls", ":x", "9lives", "../x"])("%j is refused as a pattern", (pattern) => {
  expect(checkRulePattern(pattern)).toMatchObject({ ok: false, failure: { code: "invalid" } });
});
