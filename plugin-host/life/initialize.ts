import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Exit } from "../../sandbox/os/launcher.ts";
import type { Grant } from "../../sandbox/permission/permission.ts";
import type { Initialized, PluginLink } from "../link/plugin-link.ts";
import { EXIT_GRACE_MS, failedForGood, failedForNow, type Started, sayExit } from "../link/start-outcome.ts";
import { waitFor } from "../link/wait.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import { ownWritePaths } from "../manifest/wants.ts";

/** What a process is told of its host and of itself. */
export type Introduction = {
  readonly manifest: PluginManifest;
  readonly hostVersion: string;
  /** What it was granted, in the permission language. */
  readonly allow: readonly string[];
  readonly granted: Grant;
  readonly folder: string;
  /** Its settings, valid by the manifest's schema. */
  readonly config: JsonObject;
};

/** First call of a process that said hello. What it answers must fit its manifest; its death and its silence are told apart. */
export async function initialize(
  { manifest, hostVersion, allow, config, granted, folder }: Introduction,
  link: PluginLink,
  exited: Promise<Exit>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Started<void>> {
  const name = `plugin "${manifest.name}"`;
  const giveUp = new AbortController();
  const answer = link
    .initialize({ hostVersion, granted: [...allow], config, dataFolder: dataFolderOf(granted, folder) }, giveUp.signal)
    .then(
      (value) => ({ got: "answer" as const, value }),
      (cause: unknown) => ({ got: "error" as const, cause }),
    );
  const death = exited.then((exit) => ({ got: "exit" as const, exit }));
  try {
    const heard = await waitFor(Promise.race([answer, death]), Math.max(1, timeoutMs), signal);
    if (heard.came === "abort") return failedForNow("unavailable", `${name} was stopped while it started`);
    if (heard.came === "timeout") {
      return failedForNow(
        "timed_out",
        `${name} ${manifest.protocol === "clawd" ? "said hello, but " : ""}did not answer Initialize within its ${manifest.startTimeoutMs} ms`,
      );
    }
    if (heard.value.got === "answer") return judgeInitialized(manifest, heard.value.value);
    const exit = heard.value.got === "exit" ? heard.value.exit : await exitWithin(exited, EXIT_GRACE_MS);
    if (exit !== undefined) return failedForNow("unavailable", `${name} ${sayExit(exit)} right after it said hello`);
    const cause = heard.value.got === "error" ? heard.value.cause : undefined;
    return failedForNow(
      "unavailable",
      `${name} refused Initialize: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  } finally {
    giveUp.abort();
  }
}

async function exitWithin(exited: Promise<Exit>, timeoutMs: number): Promise<Exit | undefined> {
  const waited = await waitFor(exited, timeoutMs);
  return waited.came === "value" ? waited.value : undefined;
}

/** What the plugin says of itself must be what the person and the model were shown. */
function judgeInitialized(manifest: PluginManifest, answer: Initialized): Started<void> {
  const refuse = (problem: string) =>
    failedForGood(
      "invalid",
      `plugin "${manifest.name}" ${problem}`,
      "mend plugin.json or the program, then install it again",
    );
  if (answer.version !== manifest.version) {
    return refuse(`says it is version ${JSON.stringify(answer.version)}, its plugin.json says ${manifest.version}`);
  }
  const served = new Set(answer.tools);
  const declared = new Set(manifest.tools.map(({ name }) => name));
  for (const name of served)
    if (!declared.has(name)) return refuse(`serves a tool "${name}" that its plugin.json does not declare`);
  for (const name of declared)
    if (!served.has(name)) return refuse(`does not serve the tool "${name}" that its plugin.json declares`);
  return { ok: true, value: undefined };
}

/** The first folder of its own that it may write. */
function dataFolderOf(granted: Grant, folder: string): string {
  const [first] = ownWritePaths(granted, folder);
  return first === undefined ? "" : join(folder, first);
}
