import { type MemoryNote, MemoryNoteSchema, MemoryService } from "../../proto/gen/clawd/v1/admin_pb.ts";
import type { Arguments } from "../args.ts";
import { formatTime } from "../clock-text.ts";
import { type Context, withDaemon } from "../command.ts";
import { escapeLine, shorten } from "../escape.ts";
import { readMoment } from "../moment.ts";
import { readCount } from "../number.ts";
import { printJson, printProto } from "../proto-json.ts";
import { printTable } from "../table.ts";
import { EXIT, ok } from "../trouble.ts";
import { readViewer } from "./memory-viewer.ts";

const EXCERPT_LIMIT = 100;
/** Columns that the lines of a note go in, behind its first. */
const TEXT_INDENT = 2;
const NO_NOTES = "there are no notes; claw memory remember TEXT writes one";

/** `claw memory remember TEXT`: prints the note's id, and tells of notes that say nearly the same. */
export async function rememberNote(context: Context, args: Arguments): Promise<number> {
  const { screen } = context;
  const nowMs = Date.now();
  const expires = args.text("expires");
  const expiresAtMs = expires === undefined ? ok(0) : readMoment("--expires", expires, nowMs, "ahead");
  if (!expiresAtMs.ok) return context.report(expiresAtMs.trouble);
  return withDaemon(context, async (daemon) => {
    const viewer = await readViewer(context, args, daemon);
    if (!viewer.ok) return context.report(viewer.trouble);
    const noted = await daemon.call(MemoryService.method.remember, {
      text: args.positionals.join(" "),
      viewer: viewer.value,
      scope: args.text("scope") ?? "",
      type: args.text("type") ?? "",
      importance: args.text("importance") ?? "",
      labels: [...args.list("label")],
      expiresAtMs: expiresAtMs.value,
      supersedes: args.text("supersedes") ?? "",
    });
    if (!noted.ok) return context.report(noted.trouble);
    const { memoryId, similar } = noted.value;
    if (args.on("json")) printJson(screen, { memoryId, similar: similar.map((note) => note.memoryId) });
    else screen.data(`${memoryId}\n`);
    for (const note of similar) screen.note(`nearly the same: ${noteLine(note)}`);
    if (similar.length > 0)
      screen.note("  → --supersedes ID takes the place of a note, claw memory forget ID drops it");
    return EXIT.done;
  });
}

/** `claw memory notes [--all]` */
export async function listNotes(context: Context, args: Arguments): Promise<number> {
  const limit = readCount("--limit", args.text("limit") ?? "0");
  if (!limit.ok) return context.report(limit.trouble);
  return withDaemon(context, async (daemon) => {
    const viewer = await readViewer(context, args, daemon);
    if (!viewer.ok) return context.report(viewer.trouble);
    const request = { viewer: viewer.value, limit: limit.value, all: args.on("all") };
    const listed = await daemon.call(MemoryService.method.listNotes, request);
    if (!listed.ok) return context.report(listed.trouble);
    const { notes } = listed.value;
    if (args.on("json")) {
      for (const note of notes) printProto(context.screen, MemoryNoteSchema, note);
      return EXIT.done;
    }
    const nowMs = Date.now();
    if (context.screen.dataIsTerminal && notes.length > 0) {
      for (const note of notes) context.screen.layout(noteLines(note, nowMs, context.screen));
      return EXIT.done;
    }
    const rows = notes.map((note) => [
      note.memoryId,
      formatTime(note.atMs),
      note.author,
      note.scope,
      aboutOf(note),
      stateOf(note, nowMs),
      note.text,
    ]);
    const columns = ["ID", "WRITTEN", "BY", "SCOPE", "ABOUT", "STATE", "TEXT"];
    printTable(context.screen, columns, rows, NO_NOTES);
    return EXIT.done;
  });
}

function aboutOf({ type, importance, labels }: MemoryNote): string {
  const words = [type === "general" ? "" : type, importance === "normal" ? "" : importance, ...labels];
  return words.filter((word) => word !== "").join(", ");
}

function stateOf({ supersededBy, expiresAtMs }: MemoryNote, nowMs: number): string {
  if (supersededBy !== "") return `superseded by ${supersededBy}`;
  if (expiresAtMs === 0) return "";
  return `${expiresAtMs <= nowMs ? "expired" : "until"} ${formatTime(expiresAtMs)}`;
}

/** A note for eyes: an id that was cut short would be of no use. */
function noteLines(note: MemoryNote, nowMs: number, screen: Context["screen"]): string {
  const facts = [note.author, formatTime(note.atMs), whereOf(note), aboutOf(note), stateOf(note, nowMs)];
  const shown = escapeLine(facts.filter((fact) => fact !== "").join(", "));
  const first = `${screen.paintData("cyan", `note ${escapeLine(note.memoryId)}`)} ${screen.paintData("dim", `(${shown})`)}`;
  return screen.wrapData(`${first}\n  ${escapeLine(note.text.trim())}\n`, TEXT_INDENT);
}

function whereOf({ scope }: MemoryNote): string {
  if (scope.startsWith("project:")) return "this project";
  return scope.startsWith("session:") ? `session ${scope.slice("session:".length)}` : "";
}

/** A note on one line of a terminal. */
export function noteLine({ memoryId, text, scope }: MemoryNote): string {
  const where = scope === "person" ? "" : ` (${escapeLine(scope)})`;
  return `${escapeLine(memoryId)}${where} ${escapeLine(shorten(text.trim(), EXCERPT_LIMIT))}`;
}
