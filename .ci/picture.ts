// Draws a recorded terminal run as an SVG, for the README. Recorded and drawn with:
//
//   script -qefc "stty cols 100; npm -s start" /dev/null | node .ci/picture.ts 4-7 21 > docs/tour.svg
//
// The arguments say which numbered sections are shown, and how many lines of each; "⋮" stands for what was left out.
import { text } from "node:stream/consumers";

type Look = { readonly bold: boolean; readonly dim: boolean; readonly colour: number };
type Span = { readonly column: number; readonly text: string; readonly look: Look };

const PLAIN: Look = { bold: false, dim: false, colour: 0 };
const OMISSION: readonly Span[] = [{ column: 3, text: "⋮", look: { bold: false, dim: true, colour: 0 } }];
const CELL_WIDTH = 8.4;
const LINE_HEIGHT = 19;
const PADDING = 22;
const BAR_HEIGHT = 34;
const COLUMNS = 100;
/** Foreground by SGR number. All of them are readable on the background, which is the picture's own. */
const COLOURS: Readonly<Record<number, string>> = {
  31: "#ff7b72",
  32: "#7ee787",
  33: "#e3b341",
  36: "#79c0ff",
};
const STYLE = `text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#c9d1d9}
.b{font-weight:bold;fill:#f0f6fc}.d{fill:#8b949e}${Object.entries(COLOURS)
  .map(([number, fill]) => `.c${number}{fill:${fill}}`)
  .join("")}`;

/** The lines that were on the screen in the end: what a spinner drew and took back is gone. */
function readLines(recorded: string): readonly (readonly Span[])[] {
  let look = PLAIN;
  return recorded
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => {
      const read = readLine(line.split("\r\u001b[2K").at(-1) ?? "", look);
      look = read.look;
      return read.spans;
    });
}

/** @param before the look that the line before ended with */
function readLine(line: string, before: Look): { readonly spans: readonly Span[]; readonly look: Look } {
  const spans: Span[] = [];
  let look = before;
  let column = 0;
  for (const [at, part] of line.split("\u001b[").entries()) {
    const [, codes = "", words = ""] = at === 0 ? ["", "", part] : (/^([\d;]*)m(.*)$/.exec(part) ?? []);
    for (const code of at === 0 ? [] : codes.split(";").map(Number)) {
      if (code === 0) look = PLAIN;
      else if (code === 1) look = { ...look, bold: true };
      else if (code === 2) look = { ...look, dim: true };
      else look = { ...look, colour: code };
    }
    if (words.trim() !== "") spans.push({ column, text: words, look });
    column += [...words].length;
  }
  return { spans, look };
}

type Choice = { readonly first: number; readonly last: number; readonly limitLines: number };

/** What stands before the first section, then the wanted sections, each cut to a number of lines. */
function chooseLines(lines: readonly (readonly Span[])[], { first, last, limitLines }: Choice) {
  const chosen: (readonly Span[])[] = [];
  let section = 0;
  let shown = 0;
  for (const spans of lines) {
    const words = spans.map((span) => span.text).join("");
    const number = /^(\d+)\. /.exec(words)?.[1];
    if (number !== undefined || words.startsWith("Three next")) {
      section = Number(number ?? Number.POSITIVE_INFINITY);
      shown = 0;
    }
    if (section !== 0 && (section < first || section > last)) continue;
    shown += 1;
    if (section === 0 || shown <= limitLines) chosen.push(spans);
    else if (words !== "" && shown !== Number.POSITIVE_INFINITY) {
      chosen.push(OMISSION, []);
      shown = Number.POSITIVE_INFINITY;
    }
  }
  return chosen.slice(0, chosen.findLastIndex((spans) => spans.length > 0) + 1);
}

function drawSpan({ column, text: words, look }: Span, baseline: number): string {
  const lead = words.length - words.trimStart().length;
  const shown = words.trim();
  const name = look.colour in COLOURS ? `c${look.colour}` : look.bold ? "b" : look.dim ? "d" : "";
  const x = (PADDING + (column + lead) * CELL_WIDTH).toFixed(1);
  // Columns stay in line whatever the reader's monospace font is.
  const width = ([...shown].length * CELL_WIDTH).toFixed(1);
  const mark = name === "" ? "" : ` class="${name}"`;
  return `<text x="${x}" y="${baseline}" textLength="${width}"${mark}>${escapeXml(shown)}</text>`;
}

function escapeXml(words: string): string {
  return words.replace(/[&<>]/g, (mark) => ({ "&": "&amp;", "<": "&lt;" })[mark] ?? "&gt;");
}

function draw(lines: readonly (readonly Span[])[], title: string): string {
  const width = Math.ceil(2 * PADDING + COLUMNS * CELL_WIDTH);
  const height = BAR_HEIGHT + 2 * PADDING + lines.length * LINE_HEIGHT - LINE_HEIGHT / 2;
  const dots = ["#ff5f57", "#febc2e", "#28c840"].map(
    (fill, at) => `<circle cx="${PADDING + at * 20}" cy="${BAR_HEIGHT / 2 + 2}" r="6" fill="${fill}"/>`,
  );
  const texts = lines.flatMap((line, at) =>
    line.map((span) => drawSpan(span, BAR_HEIGHT + PADDING + at * LINE_HEIGHT + 10)),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10" fill="#0d1117" stroke="#30363d"/>`,
    ...dots,
    `<text x="${width / 2}" y="${BAR_HEIGHT / 2 + 7}" text-anchor="middle" class="d">${escapeXml(title)}</text>`,
    ...texts,
    "</svg>\n",
  ].join("\n");
}

const [sections = "1-99", limit = "99"] = process.argv.slice(2);
const [first = 1, last = first] = sections.split("-").map(Number);
const lines = chooseLines(readLines(await text(process.stdin)), { first, last, limitLines: Number(limit) });
process.stdout.write(draw(lines, "npm start"));
