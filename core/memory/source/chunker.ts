/** A chunk is closed at the next blank line once it is this long. */
const CHUNK_GOAL_CHARS = 1_000;
/** … and wherever it is, before it gets longer than this. */
const CHUNK_LIMIT_CHARS = 1_500;
const PLAIN_LIMIT_LINES = 40;
const HEADING = /^(#{1,6})\s+(.*?)\s*#*\s*$/;
const FENCE = /^\s{0,3}(```|~~~)/;

export type TextForm = "markdown" | "plain";

export type Chunk = {
  /** Where it begins in its file: line from 1, UTF-16 column from 0. */
  readonly line: number;
  readonly column: number;
  /** The Markdown headings above it, outermost first. */
  readonly headings: readonly string[];
  readonly text: string;
};

export function formOf(path: string): TextForm {
  return /\.(md|mdx|markdown)$/i.test(path) ? "markdown" : "plain";
}

/**
 * Cuts a text where its structure is: Markdown at headings and paragraphs, everything else at blank lines or after 40
 * lines. No overlap, nothing but blank lines at the edges is lost.
 */
export function chunkText(text: string, form: TextForm): Chunk[] {
  const chunks: Chunk[] = [];
  const headings: { level: number; title: string }[] = [];
  let open: string[] = [];
  let openLine = 1;
  let openChars = 0;
  let inFence = false;

  function close(lines: number): void {
    const kept = open.slice(0, lines);
    const chunk = trimChunk(
      kept,
      openLine,
      headings.map((heading) => heading.title),
    );
    if (chunk !== undefined) chunks.push(chunk);
    open = open.slice(lines);
    openLine += lines;
    openChars = open.reduce((sum, line) => sum + line.length + 1, 0);
  }

  for (const line of text.split(/\r?\n/)) {
    const heading = form === "markdown" && !inFence ? HEADING.exec(line) : null;
    if (FENCE.test(line)) inFence = !inFence;
    if (heading !== null) {
      // Headings without a word between them stay together.
      if (open.some((other) => other.trim() !== "" && !HEADING.test(other))) close(open.length);
      pushHeading(headings, heading[1]?.length ?? 1, heading[2] ?? "");
    }
    if (line.length > CHUNK_LIMIT_CHARS) {
      close(open.length);
      chunks.push(
        ...cutLine(
          line,
          openLine,
          headings.map(({ title }) => title),
        ),
      );
      openLine += 1;
      continue;
    }
    if (openChars + line.length > CHUNK_LIMIT_CHARS) close(lastParagraph(open));
    // The lines kept from before the cut may still be too many for this one.
    if (openChars + line.length > CHUNK_LIMIT_CHARS) close(open.length);
    open.push(line);
    openChars += line.length + 1;
    const full = openChars >= CHUNK_GOAL_CHARS && line.trim() === "";
    if (full || (form === "plain" && open.length >= PLAIN_LIMIT_LINES)) close(open.length);
  }
  close(open.length);
  return chunks;
}

function pushHeading(headings: { level: number; title: string }[], level: number, title: string): void {
  while ((headings[headings.length - 1]?.level ?? 0) >= level) headings.pop();
  headings.push({ level, title });
}

/** How many lines to close so that the last, unfinished paragraph stays open; all when there is only one. */
function lastParagraph(lines: readonly string[]): number {
  const blank = lines.findLastIndex((line) => line.trim() === "");
  return blank > 0 ? blank : lines.length;
}

function trimChunk(lines: readonly string[], line: number, headings: readonly string[]): Chunk | undefined {
  const first = lines.findIndex((text) => text.trim() !== "");
  if (first < 0) return undefined;
  const last = lines.findLastIndex((text) => text.trim() !== "");
  return { line: line + first, column: 0, headings, text: lines.slice(first, last + 1).join("\n") };
}

function cutLine(text: string, line: number, headings: readonly string[]): Chunk[] {
  const chunks: Chunk[] = [];
  for (let column = 0; column < text.length; ) {
    let end = Math.min(column + CHUNK_LIMIT_CHARS, text.length);
    if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1;
    const piece = text.slice(column, end);
    if (piece.trim() !== "") chunks.push({ line, column, headings, text: piece });
    column = end;
  }
  return chunks;
}
