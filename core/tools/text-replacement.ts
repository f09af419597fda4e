import { fail, ok, type Result } from "../domain/failure.ts";

/** Places named when a text is found more than once. */
const PLACES_SHOWN = 10;

export type Replacement = { readonly text: string; readonly places: number; readonly firstLine: number };

/**
 * Replaces the one place where `oldText` stands, or with `all` each. In a file of CRLF lines a text of LF lines is taken
 * for CRLF too, because models do not see the difference.
 */
export function replaceText(
  text: string,
  oldText: string,
  newText: string,
  all: boolean,
  shown: string,
): Result<Replacement> {
  if (oldText === newText)
    return fail("invalid", "old_text and new_text are the same", { hint: "nothing would change" });
  const asWritten = findPlaces(text, oldText);
  const isCrlf = asWritten.length === 0 && text.includes("\r\n") && !oldText.includes("\r");
  const [wanted, replacing] = isCrlf ? [toCrlf(oldText), toCrlf(newText)] : [oldText, newText];
  const places = isCrlf ? findPlaces(text, wanted) : asWritten;
  const [first] = places;
  if (first === undefined) return notThere(text, oldText, shown);
  if (places.length > 1 && !all) {
    const lines = places.slice(0, PLACES_SHOWN).map((at) => lineOf(text, at));
    const more = places.length > PLACES_SHOWN ? " …" : "";
    return fail("conflict", `old_text stands ${places.length} times in ${shown}, in lines ${lines.join(", ")}${more}`, {
      hint: "add lines around it until it stands there once, or set all to true",
    });
  }
  return ok({ text: text.split(wanted).join(replacing), places: places.length, firstLine: lineOf(text, first) });
}

function notThere(text: string, oldText: string, shown: string): Result<never> {
  const wanted = oldText.split("\n").map((line) => line.trim());
  const lines = text.split("\n").map((line) => line.trim());
  const at = lines.findIndex((_, from) => wanted.every((line, index) => lines[from + index] === line));
  const first = wanted.find((line) => line !== "");
  const begins = at >= 0 || first === undefined ? -1 : lines.indexOf(first);
  const hint =
    at >= 0
      ? `but for spaces and tabs it stands at line ${at + 1}: copy it exactly`
      : begins >= 0
        ? `its first line stands at line ${begins + 1}, but what follows differs: read it there again`
        : "read the file again and copy the text exactly";
  return fail("not_found", `old_text does not stand in ${shown}`, { hint });
}

function findPlaces(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) places.push(at);
  return places;
}

function lineOf(text: string, at: number): number {
  let line = 1;
  for (let found = text.indexOf("\n"); found >= 0 && found < at; found = text.indexOf("\n", found + 1)) line += 1;
  return line;
}

function toCrlf(text: string): string {
  return text.replaceAll("\n", "\r\n");
}
