import { relative } from "node:path";
import type { HitReason, MemoryHit, MemorySnippet } from "../proto/gen/clawd/v1/admin_pb.ts";
import { formatTime } from "./clock-text.ts";
import { escapeLine, shorten } from "./escape.ts";
import type { Paint } from "./screen.ts";

/** For hits of a daemon that sends no snippet. */
const EXCERPT_LIMIT = 240;
const TITLE_LIMIT = 80;

/** A hit for eyes: where it is from and whose words it is, the place in it that matched, and, asked for, why it stands there. */
export function hitLines(hit: MemoryHit, folder: string, paint: Paint, why: boolean): string {
  // Of what was said the title tells who and when, as the facts do.
  const hasTitle = hit.title !== "" && hit.kind !== "conversation";
  const title = hasTitle ? ` ${paint("bold", escapeLine(shorten(hit.title, TITLE_LIMIT)))}` : "";
  const facts = [hit.author, formatTime(hit.atMs), hit.score.toFixed(4)].filter((fact) => fact !== "").join(", ");
  const lines = [`${paint("cyan", escapeLine(placeOf(hit, folder)))}${title} ${paint("dim", `(${facts})`)}`];
  lines.push(`  ${snippetText(hit.snippet ?? { text: shorten(hit.text, EXCERPT_LIMIT), marks: [] }, paint)}`);
  if (why && hit.reason !== undefined) lines.push(`  ${paint("dim", `why: ${reasonText(hit.reason)}`)}`);
  return `${lines.join("\n")}\n`;
}

function placeOf({ kind, path, line, page, memoryId, sessionId }: MemoryHit, folder: string): string {
  if (kind === "conversation") return `session ${sessionId}`;
  if (path === "") return `note ${memoryId}`;
  const inside = kind === "document" ? path : relative(folder, path);
  const place = inside === "" || inside.startsWith("..") ? path : inside;
  if (page > 0) return `${place} page ${page}`;
  return line > 0 ? `${place}:${line}` : place;
}

function snippetText({ text, marks }: Pick<MemorySnippet, "text" | "marks">, paint: Paint): string {
  const plain = (from: number, to?: number): string => escapeLine(text.slice(from, to).replace(/\s+/g, " "));
  let shown = "";
  let at = 0;
  for (const { start, end } of marks) {
    shown += plain(at, start) + paint("yellow", plain(start, end));
    at = end;
  }
  return (shown + plain(at)).trim();
}

function reasonText({ lexical, vector, recency, importance, folded }: HitReason): string {
  const leg = (name: string, rank: HitReason["lexical"]): string =>
    rank === undefined ? `${name}: not seen` : `${name}: place ${rank.rank} with ${rank.score.toFixed(3)}`;
  const parts = [leg("words", lexical), leg("vector", vector)];
  if (recency !== 1) parts.push(`age ×${recency.toFixed(2)}`);
  if (importance !== 1) parts.push(`importance ×${importance.toFixed(2)}`);
  if (folded.length > 0) parts.push(`stands for ${folded.map(escapeLine).join(" ")} too`);
  return parts.join(", ");
}
