import type { Readable, Writable } from "node:stream";
import { create, fromJsonString, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { BootSchema, type Hello, HelloSchema } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import type { LeasedProcess } from "../../sandbox/os/launcher.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import { failedByExit, failedForGood, failedForNow, type Started } from "./start-outcome.ts";
import { waitFor } from "./wait.ts";

/** The form of Boot and Hello. */
const BOOT_VERSION = 1;
const MAX_HELLO_BYTES = 8 * 1024;

/** Before the one line of hello on standard output, for runtimes that cannot write descriptor 3; all else there is log. */
const STDOUT_HELLO = "CLAWD1 ";

/** Writes the Boot line; standard input stays open as the tether. */
export function sayBoot(stdin: Writable, boot: MessageInitShape<typeof BootSchema>): void {
  // A process that is already gone is noticed by its exit.
  stdin.on("error", () => {});
  stdin.write(`${toJsonString(BootSchema, create(BootSchema, { bootVersion: BOOT_VERSION, ...boot }))}\n`);
}

export type HelloParts = Pick<PluginManifest, "name" | "startTimeoutMs"> & {
  /** The majors that were said in Boot. */
  readonly hostMajors: readonly number[];
};

/**
 * Waits for the plugin's one line of Hello: on its descriptor 3, or on standard output behind "CLAWD1 ". A process that
 * ends, a descriptor that closes, silence and a wrong line are failures with texts of their own.
 */
export async function hearHello(
  { name, startTimeoutMs, hostMajors }: HelloParts,
  process: Pick<LeasedProcess, "exited" | "pipes" | "stdout">,
  leftMs: number,
  signal: AbortSignal,
): Promise<Started<Hello>> {
  const [pipe] = process.pipes;
  if (pipe === undefined) throw new Error("the launcher opened no descriptor 3");
  let pipeEnded = false;
  const lines = Promise.withResolvers<Line>();
  void readLine(pipe).then((line) => {
    // Closed is not refused: the hello may yet come on standard output.
    if (line.got === "end") pipeEnded = true;
    else lines.resolve(line);
  });
  const stopLooking = findHello(process.stdout, lines.resolve);
  const exited = process.exited.then((exit) => ({ got: "exit" as const, exit }));
  const heard = await waitFor(Promise.race([lines.promise, exited]), leftMs, signal).finally(stopLooking);
  if (heard.came === "abort") return failedForNow("unavailable", `plugin "${name}" was stopped while it started`);
  if (heard.came === "timeout") {
    const closed = pipeEnded ? "closed descriptor 3 and " : "";
    return failedForNow("timed_out", `plugin "${name}" ${closed}did not say hello within ${startTimeoutMs} ms`);
  }
  if (heard.value.got === "exit") return failedByExit(name, heard.value.exit);
  if (heard.value.got === "line") return judgeHello(name, hostMajors, heard.value);
  return invalid(
    name,
    `plugin "${name}" wrote more than ${MAX_HELLO_BYTES / 1024} KiB on descriptor 3 instead of one line of hello`,
  );
}

type Line =
  | { readonly got: "line"; readonly line: string; readonly on: string }
  | { readonly got: "flood" }
  | { readonly got: "end" };

/** Resolves with the first line; what comes after it is read and dropped, so that the writer never stands still. */
function readLine(pipe: Readable): Promise<Line> {
  const { promise, resolve } = Promise.withResolvers<Line>();
  let head: Buffer | undefined = Buffer.alloc(0);
  pipe.on("data", (chunk: Buffer) => {
    if (head === undefined) return;
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(0x0a);
    if (end < 0 && head.byteLength <= MAX_HELLO_BYTES) return;
    const line = () => ({ got: "line" as const, line: head?.toString("utf8", 0, end) ?? "", on: "descriptor 3" });
    resolve(end < 0 || end > MAX_HELLO_BYTES ? { got: "flood" } : line());
    head = undefined;
  });
  pipe.once("end", () => resolve({ got: "end" }));
  pipe.on("error", () => resolve({ got: "end" }));
  return promise;
}

/** Looks for a line of hello among whatever is printed; the value ends the search. The log reads the same stream. */
function findHello(stdout: Readable, onLine: (line: Line) => void): () => void {
  let line = "";
  const onData = (chunk: Buffer) => {
    const parts = chunk.toString("utf8").split("\n");
    for (const [index, part] of parts.entries()) {
      // What is longer than any hello is kept just long enough to be none.
      if (line.length <= MAX_HELLO_BYTES) line += part.slice(0, MAX_HELLO_BYTES + 1);
      if (index === parts.length - 1) return;
      if (line.startsWith(STDOUT_HELLO) && line.length <= MAX_HELLO_BYTES) {
        onLine({ got: "line", line: line.slice(STDOUT_HELLO.length), on: "standard output" });
      }
      line = "";
    }
  };
  stdout.on("data", onData);
  return () => stdout.off("data", onData);
}

function judgeHello(
  name: string,
  hostMajors: readonly number[],
  { line, on }: Extract<Line, { got: "line" }>,
): Started<Hello> {
  let hello: Hello;
  try {
    // A newer library may say more than this host knows.
    hello = fromJsonString(HelloSchema, line, { ignoreUnknownFields: true });
  } catch {
    return invalid(name, `plugin "${name}" said on ${on} what is no hello: ${JSON.stringify(line.slice(0, 80))}`);
  }
  if (hello.error !== "") return invalid(name, `plugin "${name}" cannot start: ${hello.error.slice(0, 500)}`);
  if (hello.bootVersion !== BOOT_VERSION) {
    return invalid(
      name,
      `plugin "${name}" says hello in form ${hello.bootVersion}; this host knows form ${BOOT_VERSION}`,
    );
  }
  if (!hostMajors.includes(hello.protocolMajor)) {
    const offered = hostMajors.join(", ");
    return invalid(name, `plugin "${name}" chose clawd.plugin major ${hello.protocolMajor}; it was offered ${offered}`);
  }
  return { ok: true, value: hello };
}

function invalid(name: string, message: string): Started<never> {
  return failedForGood("invalid", message, `mend or upgrade the plugin, then: claw plugin reload ${name}`);
}
