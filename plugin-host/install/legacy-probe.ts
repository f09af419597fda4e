import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Failure, fail, ok, type Result, unreachable } from "../../core/domain/failure.ts";
import type { Launcher, LaunchSpec, LeasedProcess } from "../../sandbox/os/launcher.ts";
import {
  LEGACY_ANSWER_MS,
  LEGACY_PROTOCOL_VERSION,
  manifestJsonOf,
  readLegacyManifest,
} from "../link/json-rpc-manifest.ts";
import { openJsonRpcWire } from "../link/json-rpc-wire.ts";
import { createLogRing } from "../link/log-ring.ts";
import { LinkError } from "../link/plugin-link.ts";
import { EXIT_GRACE_MS, sayExit } from "../link/start-outcome.ts";
import { waitFor } from "../link/wait.ts";

/** What the copy of the executable is called in the plugin's folder. */
export const LEGACY_PROGRAM = "program";

const PROBE_ENV = { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8", HOME: "/tmp", TMPDIR: "/tmp" };
const PROBE_LIMITS = { dataMib: 512, openFiles: 256, fileMib: 16, processes: 32 };
/** Time to write its last words after its end, and to be gone after it was killed. */
const LAST_WORDS_MS = 250;
const GONE_MS = 2_000;

export type LegacyProbeParts = {
  readonly launcher: Launcher;
  /** True when the person said that it may run although this machine has no sandbox. */
  readonly trusted: boolean;
};

/**
 * Asks a legacy executable what it is. It runs once for that, in a sandbox with nothing in it but itself and the system's
 * programs, for at most five seconds, and is killed afterwards. Gives the JSON of a plugin.json for a folder that holds a
 * copy of it as `LEGACY_PROGRAM`.
 * @param file absolute path; executable
 */
export async function probeLegacy(
  file: string,
  { launcher, trusted }: LegacyProbeParts,
): Promise<Result<{ readonly manifestJson: JsonObject }>> {
  if (launcher.level === "none" && !trusted) {
    return fail(
      "denied",
      `${file} has to run to say what it is, and there is no sandbox to run it in (${launcher.detail})`,
      {
        hint: "install bubblewrap (apt-get install bubblewrap) and restart the daemon, or trust it with --trust",
      },
    );
  }
  let process: LeasedProcess;
  try {
    process = launcher.launch(probeSpec(file));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return fail("unavailable", `${file} cannot be started: ${why}`, { hint: "make it executable", cause });
  }
  const log = createLogRing(() => 0);
  const drained = log.drain("stderr", process.stderr);
  try {
    const answer = await askOnce(process);
    if (!answer.ok) {
      await waitFor(drained, LAST_WORDS_MS);
      return { ok: false, failure: sayRefusal(file, answer.failure, log.lastErrors()) };
    }
    const legacy = readLegacyManifest(answer.value);
    if (!legacy.ok) return { ok: false, failure: sayRefusal(file, legacy.failure, log.lastErrors()) };
    return ok({ manifestJson: manifestJsonOf(legacy.value, LEGACY_PROGRAM) });
  } finally {
    process.kill();
    await waitFor(process.exited, GONE_MS);
    for (const stream of [process.stdin, process.stdout, process.stderr]) stream.destroy();
  }
}

function probeSpec(file: string): LaunchSpec {
  return {
    command: [file],
    cwd: "/tmp",
    env: PROBE_ENV,
    confinement: { read: [], write: [], network: "none", system: "programs" },
    limits: PROBE_LIMITS,
    pipes: 0,
  };
}

/** The handshake: its answer, or how it came to none. */
async function askOnce(process: LeasedProcess): Promise<Result<JsonValue>> {
  // What is no answer does not matter here: a person who wonders will run it by hand.
  const wire = openJsonRpcWire(process, () => {});
  const giveUp = new AbortController();
  const reply = wire.request("initialize", { protocol_version: LEGACY_PROTOCOL_VERSION }, giveUp.signal).then(
    (value) => ({ got: "reply" as const, value }),
    (cause: unknown) => ({ got: "error" as const, cause }),
  );
  const death = process.exited.then((exit) => ({ got: "exit" as const, exit }));
  try {
    const heard = await waitFor(Promise.race([reply, death]), LEGACY_ANSWER_MS);
    if (heard.came !== "value")
      return fail("timed_out", `it did not answer "initialize" within ${LEGACY_ANSWER_MS} ms`);
    const first = heard.value.got === "error" ? await exitOr(death, heard.value) : heard.value;
    switch (first.got) {
      case "exit":
        return fail("unavailable", `it ${sayExit(first.exit)} before it answered "initialize"`);
      case "error":
        return fail("invalid", first.cause instanceof LinkError ? first.cause.message : String(first.cause));
      case "reply":
        return first.value.is === "result"
          ? ok(first.value.result)
          : fail("invalid", `it refused: ${first.value.message}`);
      default:
        return unreachable(first);
    }
  } finally {
    giveUp.abort();
    wire.close("the probe is over");
  }
}

/** A pipe breaks a moment before the exit that explains it is known. */
async function exitOr<E, T>(death: Promise<E>, otherwise: T): Promise<E | T> {
  const waited = await waitFor(death, EXIT_GRACE_MS);
  return waited.came === "value" ? waited.value : otherwise;
}

function sayRefusal(file: string, { code, message }: Failure, lastErrors: string): Failure {
  const words = lastErrors === "" ? "" : `; its last words: ${lastErrors}`;
  return {
    code,
    message: `${file} is no legacy plugin: ${message}`,
    hint: `a plugin is a folder with a plugin.json, an archive of one, or an executable that speaks JSON-RPC${words}`,
  };
}
