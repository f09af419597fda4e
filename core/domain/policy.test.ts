import type { JsonObject } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { checkRulePattern, grants, judge, type Rule, restricts, subjectOf } from "./policy.ts";
import type { Tool, ToolCategory } from "./tool.ts";

function tool(name: string, category: ToolCategory, aliases: readonly string[] = []): Tool {
  const run = async () => ({ status: "done", output: "" }) as const;
  return { name, description: "", input: {}, aliases, category, rerun: "safe", timeoutMs: 1000, needs: () => [], run };
}

const shell = tool("shell", "shell", ["bash"]);
const read = tool("read", "file_read");
const write = tool("write", "file_write");
const greet = tool("plugin_hello_greet", "plugin");
const workspace = "/home/me/work";

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
  ["write:docs/*", write, { path: "docs/../package.json" }, false],
  ["write:docs/*", write, { path: "./docs//b/../a.md" }, true],
  ["write:./docs/*", write, { path: "docs/a.md" }, true],
  ["write:docs/*", write, { path: "/home/me/work/docs/a.md" }, true],
  ["write:/home/me/work/docs/*", write, { path: "docs/a.md" }, true],
  ["write:*/me/*", write, { path: "a.md" }, false],
  ["write:docs/*", write, { path: "../work2/docs/a.md" }, false],
])("allow %s for %o %o: %s", (pattern, subject, args, matches) => {
  expect(grants(pattern, { tool: subject, args, workspace })).toBe(matches);
});

test.each<[string, Tool, JsonObject]>([
  ...["secret.txt", "./secret.txt", "x/../secret.txt", ".//secret.txt", "/home/me/work/secret.txt"].map(
    (path): [string, Tool, JsonObject] => ["read:secret.txt", read, { path }],
  ),
  ["read:private/*", read, { path: "private//x" }],
  ["read:/home/me/work/private/*", read, { path: "private/x" }],
  ["read:*.pem", read, { path: "/elsewhere/a.pem" }],
  ...["rm x", " rm x", "rm\tx", "true; rm x", "true && rm x | cat", "(rm x)", "echo $(rm x)", "true\nrm x"].map(
    (command): [string, Tool, JsonObject] => ["shell:rm *", shell, { command }],
  ),
  ["bash:*sudo*", shell, { command: "true; sudo id" }],
  ["plugin_hello_greet:/etc/*", greet, { command: "x", path: "/etc/shadow" }],
])("deny %s is not evaded by the spelling of %o %o", (pattern, subject, args) => {
  expect(restricts(pattern, { tool: subject, args, workspace })).toBe(true);
});

test("what a rule does not speak about, it does not restrict", () => {
  expect(restricts("read:secret.txt", { tool: read, args: { path: "secret.txt.bak" }, workspace })).toBe(false);
  expect(restricts("shell:rm *", { tool: shell, args: { command: "git rm x" }, workspace })).toBe(false);
});

test("a path has one spelling in advice, whatever the call's", () => {
  expect(subjectOf({ path: "a/../b" }, workspace)).toBe("b");
  expect(subjectOf({ path: "." }, workspace)).toBe(".");
  expect(subjectOf({ path: "../b" }, workspace)).toBe("/home/me/b");
  expect(subjectOf({ path: "b" }, "/")).toBe("b");
  expect(subjectOf({ path: "b" }, "/home/me/x/../work/")).toBe("b");
});

test("the strictest rule wins, whatever the order", () => {
  const rules: Rule[] = [
    { pattern: "shell:rm *", verdict: "deny" },
    { pattern: "shell", verdict: "allow" },
    { pattern: "*", verdict: "ask" },
  ];
  for (const policy of [rules, rules.toReversed()]) {
    expect(judge(policy, { tool: shell, args: { command: "rm x" }, workspace }).verdict).toBe("deny");
    expect(judge(policy, { tool: shell, args: { command: "ls" }, workspace }).verdict).toBe("ask");
    expect(judge(policy, { tool: read, args: { path: "x" }, workspace }).verdict).toBe("ask");
  }
});

test("without a rule, looking is allowed and acting needs a yes", () => {
  expect(judge([], { tool: read, args: {}, workspace }).verdict).toBe("allow");
  for (const acting of [write, shell, greet])
    expect(judge([], { tool: acting, args: {}, workspace }).verdict).toBe("ask");
});

test.each(["", "shell ls", ":x", "9lives", "../x"])("%j is refused as a pattern", (pattern) => {
  expect(checkRulePattern(pattern)).toMatchObject({ ok: false, failure: { code: "invalid" } });
});
