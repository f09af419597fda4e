import type { JsonObject } from "@bufbuild/protobuf";

/** A wish to call a tool, read out of plain words. `path` stands for whatever the tool calls its file argument. */
export type Wish =
  | { readonly tool: "read" | "list"; readonly path: string }
  | { readonly tool: "write"; readonly path: string; readonly content: string }
  | { readonly tool: "grep"; readonly pattern: string }
  | { readonly tool: "shell"; readonly command: string }
  | { readonly tool: "memory_search"; readonly query: string }
  | { readonly tool: "remember"; readonly text: string }
  | { readonly tool: "call"; readonly name: string; readonly args: JsonObject }
  | { readonly tool: "broken"; readonly problem: string };

type Rule = { readonly form: RegExp; readonly wish: (groups: Readonly<Record<string, string>>) => Wish | undefined };

/** A word that looks like a file: it has an ending, or a folder before it. */
const FILE =
  /(?:^|[\s"'`(])(?<file>(?:[\w.@-]*\/)*[\w@-][\w.@-]*\.[A-Za-z]\w{0,9}|(?:[\w.@-]+\/)+[\w.@-]+)(?=[\s"'`)?!,:]|\.?$|\.\s)/;

/** In order; the first that fits wins. */
const COMMANDS: readonly Rule[] = [
  { form: /^call\s+(?<name>[\w-]+)\s*(?<json>[\s\S]*)$/i, wish: ({ name = "", json = "" }) => readCall(name, json) },
  {
    form: /^(?:run|shell|execute|bash)\s*:?\s+(?<command>[\s\S]+)$/i,
    wish: ({ command = "" }) => ({ tool: "shell", command: unquote(command) }),
  },
  {
    form: /^write\s+(?:to\s+)?(?<path>"[^"]+"|'[^']+'|[^\s:]+)(?:\s*:\s*|\s+)(?<content>[\s\S]+)$/i,
    wish: ({ path = "", content = "" }) => ({ tool: "write", path: unquote(path), content: unquote(content) }),
  },
  {
    form: /^remember\s*:?\s+(?:that\s+)?(?<text>[\s\S]+)$/i,
    wish: ({ text = "" }) => ({ tool: "remember", text: unquote(text) }),
  },
  {
    form: /^grep\s+(?:for\s+)?(?<pattern>[\s\S]+)$/i,
    wish: ({ pattern = "" }) => ({ tool: "grep", pattern: unquote(pattern) }),
  },
  {
    form: /^(?:search|recall)\s+(?:(?:your\s+|my\s+|the\s+)?memory\s+)?(?:for\s+)?(?<query>[\s\S]+)$/i,
    wish: ({ query = "" }) => ({ tool: "memory_search", query: unquote(endless(query)) }),
  },
  {
    form: /^(?:list|ls)(?:\s+(?:the\s+)?(?:files|folder|directory)(?:\s+(?:in|of))?)?(?:\s+(?<path>\S+))?$/i,
    wish: ({ path = "." }) => ({ tool: "list", path: unquote(endless(path)) }),
  },
  {
    form: /^(?:read|cat|open)\s+(?:the\s+)?(?:file\s+)?(?<path>"[^"]+"|'[^']+'|`[^`]+`|\S+)$/i,
    wish: ({ path = "" }) => ({ tool: "read", path: unquote(endless(path)) }),
  },
];

/** How people ask when they do not think of commands. */
const SENTENCES: readonly Rule[] = [
  {
    form: /^what\s+do\s+you\s+(?:know|remember)\s+(?:about|of)\s+(?<query>[\s\S]+)$/i,
    wish: ({ query = "" }) => ({ tool: "memory_search", query: endless(query) }),
  },
  { form: /^(?:what|which)\s+files?\b/i, wish: () => ({ tool: "list", path: "." }) },
  {
    form: /^(?:what|show|read|open|tell|explain|summari[sz]e|look|print|does|is)\b[\s\S]*$/i,
    wish: (groups) => {
      const file = FILE.exec(groups.whole ?? "")?.groups?.file;
      return file === undefined ? undefined : { tool: "read", path: file };
    },
  },
];

const POLITE =
  /^(?:(?:please|now|first|next|finally|also|and|then|so|ok|okay|hey|hi|hello|can you|could you|would you|will you|i want you to)\b[\s,:]*)+/i;

/** Joins of commands. A join only counts when a command begins behind it, so that a text may contain the same words. */
const JOIN = /\s*(?:;|\n|,?\s+and\s+then\b|,?\s+then\b|\s&\s)\s*/iy;
const BEGIN =
  /(?:(?:please|now|finally|also|can you|could you)\b[\s,:]*)*(?:call|run|shell|execute|bash|write|remember|grep|search|recall|list|ls|read|cat|open|what|which|show|tell|explain|summari[sz]e)\b/iy;
/** Behind `;` or `&` a shell command goes on with anything that could be a shell command too. */
const BEGIN_BEHIND_SHELL = /(?:call|run|remember|search|list|read)\s/iy;
const SHELL = /^\s*(?:run|shell|execute|bash)\b/i;

/**
 * Reads plain words as steps; the wishes of one step may run side by side (they were joined with ` & `). Empty when the
 * words hold no command.
 */
export function readWishes(words: string): readonly (readonly Wish[])[] {
  const steps: Wish[][] = [];
  for (const { text, beside } of splitCommands(words.trim())) {
    const wish = readWish(text);
    if (wish === undefined) continue;
    const last = steps.at(-1);
    if (beside && last !== undefined) last.push(wish);
    else steps.push([wish]);
  }
  return steps;
}

function readWish(text: string): Wish | undefined {
  const plain = text.trim().replace(POLITE, "");
  return readBy(COMMANDS, plain) ?? readBy(SENTENCES, plain);
}

function readBy(rules: readonly Rule[], text: string): Wish | undefined {
  for (const { form, wish } of rules) {
    const match = form.exec(text);
    const found = match === null ? undefined : wish({ whole: text, ...definedGroups(match) });
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Groups that took part, without `undefined` values, so that defaults apply. */
function definedGroups(match: RegExpExecArray): Record<string, string> {
  return Object.fromEntries(Object.entries(match.groups ?? {}).filter((entry) => entry[1] !== undefined));
}

function splitCommands(words: string): readonly { readonly text: string; readonly beside: boolean }[] {
  const parts: { text: string; beside: boolean }[] = [];
  let from = 0;
  let beside = false;
  for (let at = 0; at < words.length; ) {
    const past = skipQuoted(words, at, from);
    const join = past === at ? joinAt(words, at, from) : undefined;
    if (join === undefined) {
      at = Math.max(past, at + 1);
      continue;
    }
    parts.push({ text: words.slice(from, at), beside });
    beside = join.includes("&");
    at += join.length;
    from = at;
  }
  parts.push({ text: words.slice(from), beside });
  return parts;
}

/** The join that stands here, when a command begins behind it. `from` is where the command before it began. */
function joinAt(words: string, at: number, from: number): string | undefined {
  // Spaces before a join belong to it: it is found at the first of them.
  if (at > 0 && /\s/.test(words[at - 1] ?? "") && /\s/.test(words[at] ?? "")) return undefined;
  JOIN.lastIndex = at;
  const join = JOIN.exec(words)?.[0];
  if (join === undefined) return undefined;
  const begin = /[;&]/.test(join) && SHELL.test(words.slice(from, from + 20)) ? BEGIN_BEHIND_SHELL : BEGIN;
  begin.lastIndex = at + join.length;
  return begin.test(words) ? join : undefined;
}

/**
 * The place after a quoted text, or after the first braced object of the command, that begins here; the same place when
 * none does.
 */
function skipQuoted(words: string, at: number, from: number): number {
  const char = words[at] ?? "";
  if (char === "{") return words.indexOf("{", from) === at ? skipObject(words, at) : at;
  // An apostrophe inside a word is no quote.
  if (!`"'\``.includes(char) || (at > 0 && !/[\s:(]/.test(words[at - 1] ?? ""))) return at;
  const end = words.indexOf(char, at + 1);
  return end === -1 ? at : end + 1;
}

function skipObject(words: string, from: number): number {
  let depth = 0;
  for (let at = from; at < words.length; at += 1) {
    const char = words[at];
    if (char === '"') {
      const text = /"(?:[^"\\]|\\.)*"/y;
      text.lastIndex = at;
      const match = text.exec(words);
      if (match === null) return from;
      at += match[0].length - 1;
    } else if (char === "{") depth += 1;
    else if (char === "}" && --depth === 0) return at + 1;
  }
  return from;
}

function readCall(name: string, json: string): Wish {
  const text = json.trim();
  if (text === "") return { tool: "call", name, args: {} };
  try {
    const args: unknown = JSON.parse(text);
    if (typeof args === "object" && args !== null && !Array.isArray(args))
      return { tool: "call", name, args: args as JsonObject };
    return {
      tool: "broken",
      problem: `the arguments of ${name} have to be a JSON object like {"key":"value"}, and this is none: ${text}`,
    };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return { tool: "broken", problem: `the arguments of ${name} are not JSON (${why})` };
  }
}

function unquote(text: string): string {
  const trimmed = text.trim();
  const quote = trimmed[0] ?? "";
  return trimmed.length > 1 && `"'\``.includes(quote) && trimmed.endsWith(quote) ? trimmed.slice(1, -1) : trimmed;
}

/** Without the mark that ends a sentence. */
function endless(text: string): string {
  return text.trim().replace(/[?!.,]+$/, (marks) => (text.trim() === marks ? marks : ""));
}
