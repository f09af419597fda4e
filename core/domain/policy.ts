import type { JsonObject } from "@bufbuild/protobuf";
import { fail, ok, type Result } from "./failure.ts";
import type { Tool, ToolCategory } from "./tool.ts";

export type Verdict = "allow" | "ask" | "deny";

/** What a call needs before it happens. `pattern` is "tool" or "tool:subject", each with `*` for any characters. */
export type Rule = { readonly pattern: string; readonly verdict: Verdict };
export type Policy = readonly Rule[];

/** The verdict where no rule speaks. */
const DEFAULTS: Readonly<Record<ToolCategory, Verdict>> = {
  file_read: "allow",
  memory_read: "allow",
  file_write: "ask",
  memory_write: "ask",
  shell: "ask",
  network: "ask",
  plugin: "ask",
  mcp: "ask",
};

const STRICTNESS: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 };

/** Judges a call: the strictest matching rule wins; without one, the default of the tool's category. */
export function judge(policy: Policy, tool: Tool, args: JsonObject): { verdict: Verdict; because: string } {
  let strictest: Rule | undefined;
  for (const rule of policy) {
    if (!matchesRule(rule.pattern, tool, args)) continue;
    if (strictest === undefined || STRICTNESS[rule.verdict] > STRICTNESS[strictest.verdict]) strictest = rule;
  }
  if (strictest !== undefined) {
    return { verdict: strictest.verdict, because: `the policy says ${strictest.verdict} "${strictest.pattern}"` };
  }
  const verdict = DEFAULTS[tool.category];
  return {
    verdict,
    because: `${tool.category} calls ${verdict === "allow" ? "are allowed" : "need a yes"} by default`,
  };
}

/** True when a rule's pattern, e.g. "shell:git *" or "plugin_hello_*", speaks about this call. */
export function matchesRule(pattern: string, tool: Tool, args: JsonObject): boolean {
  const colon = pattern.indexOf(":");
  const name = colon < 0 ? pattern : pattern.slice(0, colon);
  if (![tool.name, ...tool.aliases].some((spelling) => matchesGlob(name, spelling))) return false;
  if (colon < 0) return true;
  const wanted = pattern.slice(colon + 1);
  const subject = subjectOf(args);
  if (wanted === "*" || wanted === subject) return true;
  // "git *" must not let "git status; rm -rf ~" through: a shell joins commands in more ways than a pattern can see.
  if (tool.category === "shell" && SHELL_JOINERS.test(subject)) return false;
  return matchesGlob(wanted, subject);
}

const SHELL_JOINERS = /[;&|<>`\n\r]|\$\(/;

/** What a pattern's second part speaks about: the command, the path, or the arguments as JSON. */
export function subjectOf(args: JsonObject): string {
  if (typeof args.command === "string") return args.command;
  if (typeof args.path === "string") return args.path;
  return JSON.stringify(args);
}

/** Refuses a pattern that can match no tool. */
export function checkRulePattern(pattern: string): Result<void> {
  const name = pattern.split(":", 1)[0] ?? "";
  if (/^[A-Za-z*][A-Za-z0-9_*-]*$/.test(name)) return ok(undefined);
  return fail("invalid", `"${pattern}" is not a tool pattern`, {
    hint: 'write TOOL or TOOL:SUBJECT, each with * for anything, e.g. "shell:git *" or "plugin_hello_*"',
  });
}

function matchesGlob(glob: string, text: string): boolean {
  const parts = glob.split("*");
  const first = parts[0] ?? "";
  const last = parts.at(-1) ?? "";
  if (parts.length === 1) return glob === text;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
  let from = first.length;
  for (const part of parts.slice(1, -1)) {
    const at = text.indexOf(part, from);
    if (at < 0 || at + part.length > text.length - last.length) return false;
    from = at + part.length;
  }
  return true;
}
