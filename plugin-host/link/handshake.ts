import type { Duplex, Writable } from "node:stream";
import { create, fromJsonString, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { BootSchema, type Hello, HelloSchema } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import type { LeasedProcess } from "../../sandbox/os/launcher.ts";
import { HOST_MAJORS, type PluginManifest } from "../manifest/manifest.ts";
import { EXIT_GRACE_MS, failedByExit, failedForGood, failedForNow, type Started } from "./start-outcome.ts";
import { waitFor } from "./wait.ts";

/** The form of Boot and Hello. */
const BOOT_VERSION = 1;
const MAX_HELLO_BYTES = 8 * 1024;

/** Writes the Boot line; standard input stays open as the tether. */
export function sayBoot(stdin: Writable, boot: MessageInitShape<typeof BootSchema>): void {
  // A process that is already gone is noticed by its exit.
  stdin.on("error", () => {});
  const whole = create(BootSchema, { bootVersion: BOOT_VERSION, protocolMajors: [...HOST_MAJORS], ...boot });
  stdin.write(`${toJsonString(BootSchema, whole)}\n`);
}

/**
 * Waits for the plugin's one line of Hello on its descriptor 3. A process that ends, a descriptor that closes, silence
 * and a wrong line are failures with texts of their own.
 */
export async function hearHello(
  { name, startTimeoutMs }: Pick<PluginManifest, "name" | "startTimeoutMs">,
  process: Pick<LeasedProcess, "exited" | "pipes">,
  leftMs: number,
  signal: AbortSignal,
): Promise<Started<Hello>> {
  const [pipe] = process.pipes;
  if (pipe === undefined) throw new Error("the launcher opened no descriptor 3");
  const exited = process.exited.then((exit) => ({ got: "exit" as const, exit }));
  const heard = await waitFor(Promise.race([readLine(pipe), exited]), leftMs, signal);
  if (heard.came === "abort") return failedForNow("unavailable", `plugin "${name}" was stopped while it started`);
  if (heard.came === "timeout") {
    return failedForNow("timed_out", `plugin "${name}" did not say hello within ${startTimeoutMs} ms`);
  }
  if (heard.value.got === "line") return judgeHello(name, heard.value.line);
  if (heard.value.got === "exit") return failedByExit(name, heard.value.exit);
  if (heard.value.got === "flood") {
    return invalid(
      name,
      `plugin "${name}" wrote more than ${MAX_HELLO_BYTES / 1024} KiB on descriptor 3 instead of one line of hello`,
    );
  }
  const exit = await waitFor(process.exited, EXIT_GRACE_MS, signal);
  if (exit.came === "value") return failedByExit(name, exit.value);
  return failedForNow("unavailable", `plugin "${name}" closed descriptor 3 without saying hello`);
}

type Line = { readonly got: "line"; readonly line: string } | { readonly got: "flood" } | { readonly got: "end" };

/** Resolves with the first line; what comes after it is read and dropped, so that the writer never stands still. */
function readLine(pipe: Duplex): Promise<Line> {
  const { promise, resolve } = Promise.withResolvers<Line>();
  let head: Buffer | undefined = Buffer.alloc(0);
  pipe.on("data", (chunk: Buffer) => {
    if (head === undefined) return;
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(0x0a);
    if (end < 0 && head.byteLength <= MAX_HELLO_BYTES) return;
    resolve(end < 0 || end > MAX_HELLO_BYTES ? { got: "flood" } : { got: "line", line: head.toString("utf8", 0, end) });
    head = undefined;
  });
  pipe.once("end", () => resolve({ got: "end" }));
  pipe.on("error", () => resolve({ got: "end" }));
  return promise;
}

function judgeHello(name: string, line: string): Started<Hello> {
  let hello: Hello;
  try {
    // A newer library may say more than this host knows.
    hello = fromJsonString(HelloSchema, line, { ignoreUnknownFields: true });
  } catch {
    return invalid(
      name,
      `plugin "${name}" said on descriptor 3 what is no hello: ${JSON.stringify(line.slice(0, 80))}`,
    );
  }
  if (hello.error !== "") return invalid(name, `plugin "${name}" cannot start: ${hello.error.slice(0, 500)}`);
  if (hello.bootVersion !== BOOT_VERSION) {
    return invalid(
      name,
      `plugin "${name}" says hello in form ${hello.bootVersion}; this host knows form ${BOOT_VERSION}`,
    );
  }
  if (!HOST_MAJORS.includes(hello.protocolMajor)) {
    const known = HOST_MAJORS.join(", ");
    return invalid(name, `plugin "${name}" chose clawd.plugin major ${hello.protocolMajor}; this host speaks ${known}`);
  }
  return { ok: true, value: hello };
}

function invalid(name: string, message: string): Started<never> {
  return failedForGood("invalid", message, `mend or upgrade the plugin, then: claw plugin reload ${name}`);
}
