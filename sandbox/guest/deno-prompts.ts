/** `alert`, `confirm` and `prompt`, as Deno has them on a terminal. Part of a library; runs inside the isolate. */

import type { DenoParts } from "./deno-library.ts";

/** Longest line that is taken, bytes; a terminal's own is no longer. */
const LINE_BYTES = 4096;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/**
 * They ask on standard input and stand still until it is answered. Where that is no terminal nobody is asked, and the answer
 * is the one of somebody who is not there.
 */
export function prompts({ callNow, terminals, write, bytesOfBase64, TextEncoder, TextDecoder }: DenoParts) {
  function print(text: string): void {
    write("stdout", new TextEncoder().encode(text));
  }

  /** A line without its end; null when there is none any more. Byte by byte: what follows is for others to read. */
  function readLine(): string | null {
    const bytes: number[] = [];
    while (bytes.length < LINE_BYTES) {
      const piece = callNow("inputRead", { bytes: 1 });
      const byte = piece === null ? undefined : bytesOfBase64(piece)[0];
      if (byte === undefined && bytes.length === 0) return null;
      if (byte === undefined || byte === LINE_FEED) break;
      bytes.push(byte);
    }
    if (bytes.at(-1) === CARRIAGE_RETURN) bytes.pop();
    return new TextDecoder().decode(new Uint8Array(bytes));
  }

  return {
    alert(message: unknown = "Alert"): void {
      if (!terminals.stdin) return;
      print(`${message} [Enter] `);
      readLine();
    },
    confirm(message: unknown = "Confirm"): boolean {
      if (!terminals.stdin) return false;
      print(`${message} [y/N] `);
      return /^[yY]$/.test(readLine() ?? "");
    },
    prompt(message: unknown = "Prompt", initial?: unknown): string | null {
      if (!terminals.stdin) return null;
      const instead = `${initial ?? ""}`;
      print(instead === "" ? `${message} ` : `${message} [${instead}] `);
      const answer = readLine();
      return answer === "" ? instead : answer;
    },
  };
}
