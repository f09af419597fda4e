/** Text from character codes. Runs inside the isolate. */

const { apply } = Reflect;
const { fromCharCode } = String;
const { join } = Array.prototype;
const { subarray } = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;

/** Codes that one call of `fromCharCode` gets as arguments; they lie on the stack. */
const PIECE_CODES = 8192;

/** Each element is one UTF-16 unit. */
export function textOfCodes(codes: Uint8Array | Uint16Array): string {
  if (codes.length <= PIECE_CODES) return apply(fromCharCode, undefined, codes) as string;
  const pieces: string[] = [];
  for (let at = 0; at < codes.length; at += PIECE_CODES)
    pieces[pieces.length] = apply(fromCharCode, undefined, apply(subarray, codes, [at, at + PIECE_CODES])) as string;
  return apply(join, pieces, [""]) as string;
}
