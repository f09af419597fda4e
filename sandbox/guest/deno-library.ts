/**
 * What of the Deno namespace command-line scripts use and hooks hardly do: a library of its own. Runs inside the isolate.
 */

import type { AbortController } from "./abort.ts";
import type { Call, CallNow } from "./broker-call.ts";
import { denoCommand } from "./deno-command.ts";
import { openFiles } from "./deno-open-file.ts";
import { prompts } from "./deno-prompts.ts";
import { standardStreams } from "./deno-standard-streams.ts";
import { guestTests, type TestTools } from "./deno-test.ts";
import { fileWatcher } from "./deno-watch.ts";
import type { FileFacts, Terminals } from "./guest-protocol.ts";
import type { TextDecoder, TextEncoder } from "./guest-text.ts";

/** What of the prelude it is made over; its own copies would not be the same to `instanceof`. */
export type DenoParts = {
  readonly call: Call;
  readonly callNow: CallNow;
  readonly terminals: Terminals;
  /** Puts bytes on a standard stream as they are, at once. */
  readonly write: (to: "stdout" | "stderr", bytes: Uint8Array) => void;
  readonly denoError: (name: "BadResource" | "BrokenPipe" | "Busy", message: string) => Error;
  readonly notOffered: (what: string, instead: string) => Error;
  readonly pathText: (path: unknown) => string;
  readonly fileInfo: (facts: FileFacts) => object;
  readonly timeMs: (time: unknown) => number;
  readonly base64OfBytes: (bytes: Uint8Array) => string;
  readonly bytesOfBase64: (text: string) => Uint8Array<ArrayBuffer>;
  readonly AbortController: typeof AbortController;
  readonly TextDecoder: typeof TextDecoder;
  readonly TextEncoder: typeof TextEncoder;
};

/** What the parts of the library share. `hold` hears what was opened (1) or closed (-1), for the tests that count it. */
export type LibraryParts = DenoParts & { readonly hold: (by: 1 | -1) => void };

export function denoLibrary(parts: DenoParts, tools: Omit<TestTools, "open">) {
  let open = 0;
  const counted = {
    ...parts,
    hold(by: 1 | -1) {
      open += by;
    },
  };
  return {
    ...openFiles(counted),
    ...standardStreams(counted),
    ...denoCommand(counted),
    ...prompts(counted),
    watchFs: fileWatcher(counted),
    tests: guestTests({ ...tools, open: () => open }),
  };
}

export type DenoLibrary = ReturnType<typeof denoLibrary>;
