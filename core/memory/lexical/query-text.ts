import { fail, ok, type Result } from "../../domain/failure.ts";
import { MEMORY_KINDS, type MemoryAuthor, type MemoryFilter, type MemoryKind } from "../../domain/memory.ts";
import { readMoment } from "../../domain/moment.ts";

/** More words than anybody types; what a pasted text says beyond them changes little. */
const QUERY_LIMIT_PARTS = 512;
const AUTHORS: readonly MemoryAuthor[] = ["owner", "agent", "file", "stranger"];
const FIELDS = ["kind", "path", "label", "session", "author", "after", "before"] as const;
type Field = (typeof FIELDS)[number];

export type QueryPart = {
  readonly kind: "word" | "prefix" | "phrase";
  /** As it was typed, without its signs. */
  readonly text: string;
  /** "any" helps a document that has it; "all" must be there, "none" must not. */
  readonly need: "any" | "all" | "none";
};

/** What a query says. */
export type ParsedQuery = {
  readonly parts: readonly QueryPart[];
  /** Of the words `kind:`, `path:` and so on. */
  readonly filter: MemoryFilter;
  /** What was asked without signs, filters and what must not be there: for an embedder. */
  readonly plainText: string;
};

/**
 * Reads `words "a phrase" pre* +must -not NOT not kind: path: label: session: author: after: before:`. Words are any of
 * them, phrases must be there. A word with a colon that is no filter stays a word; a filter with a value that it does not
 * have is `invalid`. `after:` a day begins with that day, `before:` one ends where it begins; a span goes back from now.
 * Linear in the text, whatever it holds.
 */
export function parseQuery(text: string, nowMs: number): Result<ParsedQuery> {
  const parts: QueryPart[] = [];
  const filters: { readonly field: Field; readonly value: string }[] = [];
  let negated = false;
  for (const token of readTokens(text)) {
    if (parts.length >= QUERY_LIMIT_PARTS) break;
    if (token.field !== undefined) {
      if (token.sign === "-" || negated)
        return fail("invalid", `the filter ${token.field}: cannot be negated`, { hint: "leave out the - or NOT" });
      filters.push({ field: token.field, value: token.text });
      continue;
    }
    if (!token.quoted && token.sign === "" && token.text === "NOT") {
      negated = true;
      continue;
    }
    const part = partOf(token, negated);
    negated = false;
    if (part !== undefined) parts.push(part);
  }
  const filter = readFilters(filters, nowMs);
  if (!filter.ok) return filter;
  return ok({ parts, filter: filter.value, plainText: plainTextOf(parts) });
}

/** Every word as it stands, no sign means anything: for what was said to somebody else than a search. */
export function literalQuery(text: string): ParsedQuery {
  const parts = [...splitWords(text)].map((word): QueryPart => ({ kind: "word", text: word, need: "any" }));
  return { parts, filter: {}, plainText: text };
}

function* splitWords(text: string): Generator<string> {
  let count = 0;
  for (const [word] of text.matchAll(/\S+/g)) {
    if (count >= QUERY_LIMIT_PARTS) return;
    count += 1;
    yield word;
  }
}

type Token = {
  readonly sign: "" | "+" | "-";
  readonly field: Field | undefined;
  readonly quoted: boolean;
  readonly text: string;
};

const SPACE = /\s/;
const QUOTE = /["“”]/;

function* readTokens(text: string): Generator<Token> {
  const closing = findClosing(text);
  let at = 0;
  while (at < text.length) {
    if (SPACE.test(text.charAt(at))) {
      at += 1;
      continue;
    }
    const sign = readSign(text, at);
    at += sign.length;
    const field = readField(text, at);
    if (field !== undefined) at += field.length + 1;
    const end = QUOTE.test(text.charAt(at)) ? closing(at) : -1;
    if (end >= 0) {
      yield { sign, field, quoted: true, text: text.slice(at + 1, end) };
      at = end + 1;
      continue;
    }
    // A quotation mark that nothing closes is a sign like any other.
    const from = at;
    at += 1;
    while (at < text.length && !SPACE.test(text.charAt(at)) && !QUOTE.test(text.charAt(at))) at += 1;
    yield { sign, field, quoted: false, text: text.slice(from, at) };
  }
}

/** Where the quotation that begins somewhere ends, or -1. Looks at nothing twice. */
function findClosing(text: string): (from: number) => number {
  const quote = /["“”]/g;
  let next = -1;
  return (from) => {
    if (next === text.length) return -1;
    if (next <= from) {
      quote.lastIndex = from + 1;
      next = quote.exec(text)?.index ?? text.length;
    }
    return next === text.length ? -1 : next;
  };
}

/** `-word` and `+word`; a dash by itself, or of an option as in --watch, is none. */
function readSign(text: string, at: number): "" | "+" | "-" {
  const sign = text.charAt(at);
  if (sign !== "+" && sign !== "-") return "";
  const next = text.charAt(at + 1);
  return next === "" || SPACE.test(next) || next === "+" || next === "-" ? "" : sign;
}

function readField(text: string, at: number): Field | undefined {
  const found = FIELDS.find((field) => text[at + field.length] === ":" && text.startsWith(field, at));
  if (found === undefined) return undefined;
  const value = text.charAt(at + found.length + 1);
  return value === "" || SPACE.test(value) ? undefined : found;
}

function partOf({ sign, quoted, text }: Token, negated: boolean): QueryPart | undefined {
  const need = sign === "-" || negated ? "none" : sign === "+" ? "all" : "any";
  if (quoted) return text.trim() === "" ? undefined : { kind: "phrase", text, need: need === "none" ? need : "all" };
  // One letter would begin half of all words.
  if (/^[^*]{2,}\*$/.test(text)) return { kind: "prefix", text: text.slice(0, -1), need };
  return { kind: "word", text, need };
}

function plainTextOf(parts: readonly QueryPart[]): string {
  return parts
    .filter(({ need }) => need !== "none")
    .map(({ text }) => text)
    .join(" ");
}

type Draft = { -readonly [Key in keyof MemoryFilter]: MemoryFilter[Key] };

function readFilters(
  filters: readonly { readonly field: Field; readonly value: string }[],
  nowMs: number,
): Result<MemoryFilter> {
  const draft: Draft = {};
  for (const { field, value } of filters) {
    const read = readFilter(draft, field, value, nowMs);
    if (!read.ok) return read;
  }
  return ok(draft);
}

/** Kinds and authors add up, times narrow; anything else is said once. */
function readFilter(draft: Draft, field: Field, value: string, nowMs: number): Result<void> {
  switch (field) {
    case "kind": {
      const kind = MEMORY_KINDS.find((known) => known === value);
      if (kind === undefined) return unknownValue(field, value, MEMORY_KINDS);
      draft.kinds = [...(draft.kinds ?? []), kind satisfies MemoryKind];
      return ok(undefined);
    }
    case "author": {
      const author = AUTHORS.find((known) => known === value);
      if (author === undefined) return unknownValue(field, value, AUTHORS);
      draft.authors = [...(draft.authors ?? []), author];
      return ok(undefined);
    }
    case "after":
    case "before": {
      const moment = readMoment(value, nowMs, "back");
      if (!moment.ok)
        return { ok: false, failure: { ...moment.failure, message: `${field}: ${moment.failure.message}` } };
      if (field === "after") draft.afterMs = Math.max(draft.afterMs ?? moment.value, moment.value);
      else draft.beforeMs = Math.min(draft.beforeMs ?? moment.value, moment.value);
      return ok(undefined);
    }
    default: {
      const key = field === "session" ? "sessionId" : field;
      if (draft[key] !== undefined && draft[key] !== value)
        return fail("invalid", `the query says ${field}: twice`, { hint: `name one ${field}` });
      draft[key] = value;
      return ok(undefined);
    }
  }
}

function unknownValue(field: Field, value: string, known: readonly string[]): Result<void> {
  return fail("invalid", `there is no ${field} "${value.slice(0, 40)}"`, { hint: `it is one of ${known.join(", ")}` });
}
