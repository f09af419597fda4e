/** `styleText` of `node:util`. Part of a library; runs inside the isolate. */

import { inspect } from "node-inspect-extracted";
import { wrongType, wrongValue } from "./node-errors.ts";

type Codes = Readonly<Record<string, readonly [number, number] | undefined>>;

/** The end of bold is also that of dim: within each other both have to begin again. */
const SHARED_END = 22;

function codesOf(format: unknown): readonly [number, number] {
  const codes = (inspect as unknown as { colors: Codes }).colors;
  const known = typeof format === "string" && Object.hasOwn(codes, format) ? codes[format] : undefined;
  if (known) return known;
  const names = Object.keys(codes).map((name) => `'${name}'`);
  throw wrongValue("format", `must be one of: ${names.join(", ")}`, format);
}

/** An end within the text, where what is around it has to begin again. */
function goOn(text: string, open: string, close: string, keepsEnd: boolean): string {
  const pieces = text.split(close);
  return pieces.reduce((before, piece, at) => {
    const isLast = at === pieces.length - 1 && piece === "";
    return before + (isLast || keepsEnd ? close : "") + (isLast ? "" : open) + piece;
  });
}

/** Text with a style; plain unless `validateStream` is false, because here no stream shows colors (`Deno.noColor`). */
export function styleText(format: unknown, text: unknown, options: { readonly validateStream?: unknown } = {}): string {
  if (typeof text !== "string") throw wrongType("text", "of type string", text);
  const { validateStream = true } = options;
  if (typeof validateStream !== "boolean") throw wrongType("options.validateStream", "of type boolean", validateStream);
  const formats = (Array.isArray(format) ? format : [format]).filter((one) => one !== "none").map(codesOf);
  if (validateStream) return text;
  let [before, styled, after] = ["", text, ""];
  for (const [begin, end] of formats) {
    const [open, close] = [`\u001b[${begin}m`, `\u001b[${end}m`];
    styled = goOn(styled, open, close, end === SHARED_END);
    before += open;
    after = close + after;
  }
  return before + styled + after;
}
