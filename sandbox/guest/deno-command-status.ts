/** How a command ended, and what it printed. Part of a library; runs inside the isolate. */

import { joinBytes } from "./buffer-source.ts";
import type { Pipe } from "./deno-command-plan.ts";
import type { LibraryParts } from "./deno-library.ts";
import type { ByteReader } from "./deno-streams.ts";

export type CommandStatus = { readonly success: boolean; readonly code: number; readonly signal: string | null };
export type EndedCommand = CommandStatus & { readonly stdout: Uint8Array; readonly stderr: Uint8Array };

/** Signals that can be named to `kill`, with their numbers: a shell's exit code is 128 more. */
export const SIGNALS: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGPIPE: 13, SIGTERM: 15 };

const { defineProperty, keys } = Object;

/** What Deno gives for output: reading a stream that was not piped throws. */
export function commandOutput(ended: EndedCommand, stdout: Pipe, stderr: Pipe): object {
  const { success, code, signal } = ended;
  const output = { success, code, signal };
  const offer = (name: "stdout" | "stderr", pipe: Pipe) =>
    defineProperty(output, name, {
      get() {
        if (pipe !== "piped") throw new TypeError(`Cannot get '${name}': '${name}' is not piped`);
        return ended[name];
      },
      enumerable: true,
      configurable: true,
    });
  offer("stdout", stdout);
  offer("stderr", stderr);
  return output;
}

/** Deno's has no prototype either. */
export function bareStatus(status: CommandStatus): CommandStatus {
  return Object.setPrototypeOf(status, null) as CommandStatus;
}

/** Adds what Deno's streams of children can do by themselves. */
export function withReaders(stream: ByteReader, TextDecoderOf: LibraryParts["TextDecoder"]): ByteReader {
  const bytes = () => readAll(stream);
  const text = async () => new TextDecoderOf().decode(await bytes());
  const readers = {
    text,
    bytes,
    json: async () => JSON.parse(await text()) as unknown,
    arrayBuffer: async () => (await bytes()).buffer,
  };
  for (const name of keys(readers))
    defineProperty(stream, name, { value: readers[name as keyof typeof readers], configurable: true, writable: true });
  return stream;
}

export async function readAll(stream: ByteReader): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks[chunks.length] = chunk;
  return joinBytes(chunks);
}
