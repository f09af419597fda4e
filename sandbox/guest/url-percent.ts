/**
 * Stands in for `@exodus/bytes` when whatwg-url is bundled: of all encodings a URL can be in, a guest has UTF-8 only.
 * Runs inside the isolate.
 */

import { TextEncoder } from "./guest-text.ts";

const encoder = new TextEncoder();

/** `set` has the characters that are escaped beside controls and everything beyond ASCII. */
export function percentEncodeAfterEncoding(_encoding: string, input: string, set: string): string {
  let output = "";
  for (const byte of encoder.encode(input)) {
    const letter = String.fromCharCode(byte);
    const plain = byte > 0x1f && byte < 0x7f && !set.includes(letter);
    output += plain ? letter : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return output;
}
