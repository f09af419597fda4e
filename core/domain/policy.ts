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

/** What rules look at. */
export type JudgedCall = {
  readonly tool: Tool;
  readonly args: JsonObject;
  /** Absolute. */
  readonly workspace: string;
};

/** Judges a call: the strictest matching rule wins; without one, the default of the tool's category. */
export function judge(policy: Policy, call: JudgedCall): { verdict: Verdict; because: string } {
  let strictest: Rule | undefined;
  for (const rule of policy) {
    if (!(rule.verdict === "allow" ? grants : restricts)(rule.pattern, call)) continue;
    if (strictest === undefined || STRICTNESS[rule.verdict] > STRICTNESS[strictest.verdict]) strictest = rule;
  }
  if (strictest !== undefined) {
    return { verdict: strictest.verdict, because: `the policy says ${strictest.verdict} "${strictest.pattern}"` };
  }
  const { category } = call.tool;
  const verdict = DEFAULTS[category];
  return { verdict, because: `${category} calls ${verdict === "allow" ? "are allowed" : "need a yes"} by default` };
}

/** True when a pattern that allows, e.g. "shell:git *" or "plugin_hello_*", speaks about all that this call does. */
export function grants(pattern: string, call: JudgedCall): boolean {
  const { tool, args, workspace } = call;
  const { wanted, namesTool } = readPattern(pattern, tool);
  if (!namesTool || wanted === undefined || wanted === "*") return namesTool;
  const subject = wanted.startsWith("/") ? absoluteSubject(args, workspace) : subjectOf(args, workspace);
  if (wanted === subject) return true;
  // "git *" must not let "git status; rm -rf ~" through: a shell joins commands in more ways than a pattern can see.
  if (tool.category === "shell" && SHELL_JOINERS.test(subject)) return false;
  return matchesGlob(wanted, subject);
}

/**
 * True when a pattern that denies or asks speaks about any of what this call does, however it is spelled: a path in
 * every form, a command with each of its parts. A shell has more spellings than a pattern can know, so a rule about
 * commands is a reminder; the wall is the sandbox, or a rule about the whole tool.
 */
export function restricts(pattern: string, { tool, args, workspace }: JudgedCall): boolean {
  const { wanted, namesTool } = readPattern(pattern, tool);
  if (!namesTool || wanted === undefined) return namesTool;
  const subjects = [
    subjectOf(args, workspace),
    absoluteSubject(args, workspace),
    ...Object.values(args).filter((value) => typeof value === "string"),
    JSON.stringify(args),
    ...(tool.category === "shell" ? commandsIn(subjectOf(args, workspace)) : []),
  ];
  return subjects.some((subject) => matchesGlob(wanted, subject));
}

function readPattern(
  pattern: string,
  tool: Tool,
): { readonly namesTool: boolean; readonly wanted: string | undefined } {
  const colon = pattern.indexOf(":");
  const name = colon < 0 ? pattern : pattern.slice(0, colon);
  const namesTool = [tool.name, ...tool.aliases].some((spelling) => matchesGlob(name, spelling));
  return { namesTool, wanted: colon < 0 ? undefined : pattern.slice(colon + 1).replace(/^(?:\.\/+)+/, "") };
}

const SHELL_JOINERS = /[;&|<>`\n\r]|\$\(/;
const BETWEEN_COMMANDS = /[;&|<>`\n\r(){}]+/;

/** The commands that are joined in a line, each with single blanks. */
function commandsIn(line: string): readonly string[] {
  return line.split(BETWEEN_COMMANDS).map((command) => command.trim().replaceAll(/\s+/g, " "));
}

/**
 * What a pattern's second part speaks about: the command; the path, in its one normal form, relative when it is in the
 * workspace; or the arguments as JSON.
 */
export function subjectOf(args: JsonObject, workspace: string): string {
  if (typeof args.command === "string") return args.command;
  if (typeof args.path !== "string") return JSON.stringify(args);
  const path = absolutePath(args.path, workspace);
  const root = absolutePath(".", workspace);
  if (path === root) return ".";
  const below = root === "/" ? root : `${root}/`;
  return path.startsWith(below) ? path.slice(below.length) : path;
}

function absoluteSubject(args: JsonObject, workspace: string): string {
  const isPath = typeof args.command !== "string" && typeof args.path === "string";
  return isPath ? absolutePath(String(args.path), workspace) : subjectOf(args, workspace);
}

/** As node:path's resolve; here, because what is true without a machine imports nothing of one. */
function absolutePath(path: string, workspace: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${workspace}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
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
