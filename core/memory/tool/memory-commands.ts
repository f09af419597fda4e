import { fail, ok, type Result } from "../../domain/failure.ts";
import type { Memory, MemoryHit, Note, Viewer } from "../../domain/memory.ts";
import type { SlashCommand, SlashOutcome } from "../../domain/slash-command.ts";
import { ageOf } from "./age.ts";
import { counted, firstChars } from "./tool-answer.ts";

const LIST_NOTES = 50;
const SEARCH_HITS = 10;
const LINE_LIMIT_CHARS = 160;
const USAGE = "/memory list | search WORDS | remember TEXT | forget ID | stats";

type Ask = { readonly words: string; readonly viewer: Viewer; readonly signal: AbortSignal };

/** What a person may ask of memory in a conversation; none of it is said to the model. */
export function memoryCommands(memory: Memory, now: () => number): readonly SlashCommand[] {
  const verbs: Readonly<Record<string, (ask: Ask) => Promise<Result<string>>>> = {
    list: (ask) => list(memory, ask, now),
    search: (ask) => search(memory, ask),
    remember: (ask) => remember(memory, ask),
    forget: (ask) => forget(memory, ask),
    stats: () => stats(memory),
  };
  const command = (
    name: string,
    description: string,
    read: (args: string) => readonly [string, string],
  ): SlashCommand => ({
    name,
    description,
    async run({ args, sessionId, workspace }, signal): Promise<Result<SlashOutcome>> {
      const [verb, words] = read(args);
      const act = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
      if (act === undefined) return fail("invalid", `/memory knows no "${verb}"`, { hint: USAGE });
      const told = await act({ words, viewer: { workspace, sessionId }, signal });
      return told.ok ? ok({ do: "show", text: told.value }) : told;
    },
  });
  return [
    command("memory", `What long-term memory holds: ${USAGE}`, (args) => {
      const [, verb = "list", words = ""] = /^(\S+)(?:\s+([\s\S]*))?$/.exec(args.trim()) ?? [];
      return [verb, words];
    }),
    command("remember", "Keep a note: /remember TEXT", (args) => ["remember", args.trim()]),
    command("forget", "Take a note out of memory: /forget ID", (args) => ["forget", args.trim()]),
  ];
}

async function list(memory: Memory, { viewer }: Ask, now: () => number): Promise<Result<string>> {
  const notes = await memory.notes(viewer, { limit: LIST_NOTES, all: false });
  if (!notes.ok) return notes;
  if (notes.value.length === 0) return ok("Memory holds no notes. /remember TEXT keeps one.");
  const lines = notes.value.map((note) => noteLine(note, now()));
  const more = lines.length < LIST_NOTES ? [] : ["These are the newest; `claw memory notes` lists more."];
  return ok([...lines, ...more].join("\n"));
}

function noteLine({ id, text, author, atMs, scope, importance, labels }: Note, nowMs: number): string {
  const marks = [
    `by ${author}`,
    `${ageOf(atMs, nowMs)} ago`,
    ...(scope === "person" ? [] : [scope.split(":")[0] ?? ""]),
    ...(importance === "normal" ? [] : [importance]),
    ...labels,
  ];
  return `${id}  ${oneLine(text)}  (${marks.join(", ")})`;
}

async function search(memory: Memory, { words, viewer, signal }: Ask): Promise<Result<string>> {
  if (words === "") return fail("invalid", "there is nothing to search for", { hint: "/memory search WORDS" });
  const found = await memory.search({ text: words, limit: SEARCH_HITS, viewer }, signal);
  if (!found.ok) return found;
  return ok(found.value.hits.length === 0 ? "Nothing found." : found.value.hits.map(hitLine).join("\n"));
}

function hitLine({ kind, id, path, line, page, author, snippet }: MemoryHit, index: number): string {
  const at = line > 0 ? `:${line}` : page > 0 ? ` page ${page}` : "";
  const where = path === "" ? `${kind} ${id} by ${author}` : `${path}${at}`;
  return `${index + 1}. ${where}  ${oneLine(snippet.text)}`;
}

async function remember(memory: Memory, { words, viewer }: Ask): Promise<Result<string>> {
  const kept = await memory.remember({ text: words, author: "owner", viewer, scope: "person" });
  if (!kept.ok) return kept;
  const similar = kept.value.similar.map(({ id, text }) => `\nIt is much like note ${id}: ${oneLine(text)}`);
  return ok(`Remembered as note ${kept.value.id}.${similar.join("")}`);
}

async function forget(memory: Memory, { words, viewer }: Ask): Promise<Result<string>> {
  const ids = words.split(/\s+/).filter(Boolean);
  if (ids.length === 0) return fail("invalid", "no note was named", { hint: "/memory list shows their ids" });
  const gone = await memory.forget(ids, viewer);
  return gone.ok ? ok(gone.value.map(({ id, text }) => `Forgot note ${id}: ${oneLine(text)}`).join("\n")) : gone;
}

async function stats(memory: Memory): Promise<Result<string>> {
  const asked = await memory.stats();
  if (!asked.ok) return asked;
  const { notes, files, messages, chunks, storeBytes, embedder, embedded, toEmbed } = asked.value;
  const vectors = embedder === "" ? "no embedder" : `${embedded} with a vector of ${embedder}, ${toEmbed} to go`;
  const held = [counted(notes, "note"), counted(files, "file"), counted(messages, "message")].join(", ");
  return ok(`${held}; ${counted(chunks, "piece")} indexed (${vectors}), ${storeBytes} bytes`);
}

function oneLine(text: string): string {
  return firstChars(text.replaceAll(/\s+/g, " ").trim(), LINE_LIMIT_CHARS, "…");
}
