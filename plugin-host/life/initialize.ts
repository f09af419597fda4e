import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Exit } from "../../sandbox/os/launcher.ts";
import type { Grant } from "../../sandbox/permission/permission.ts";
import { exitBehind } from "../link/exit-behind.ts";
import { type Initialized, LinkError, type PluginLink } from "../link/plugin-link.ts";
import { failedForGood, failedForNow, type Started, sayExit } from "../link/start-outcome.ts";
import { waitFor } from "../link/wait.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import { ownWritePaths } from "../manifest/wants.ts";

/** What a plugin says of itself stands in messages no longer than this. */
const MAX_WORD_CHARS = 80;
const MAX_CAUSE_CHARS = 500;
/** Tools that one message names. */
const MAX_NAMED_TOOLS = 8;

/** What a process is told of its host and of itself. */
export type Introduction = {
  readonly manifest: PluginManifest;
  readonly hostVersion: string;
  /** What the host can do beyond the first release of a major. */
  readonly hostFeatures: readonly string[];
  /** What it was granted, in the permission language. */
  readonly allow: readonly string[];
  readonly granted: Grant;
  readonly folder: string;
  /** Its settings, valid by the manifest's schema. */
  readonly config: JsonObject;
};

/** First call of a process that said hello. What it answers must fit its manifest; its death and its silence are told apart. */
export async function initialize(
  introduction: Introduction,
  link: PluginLink,
  exited: Promise<Exit>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Started<Initialized>> {
  const { manifest } = introduction;
  const name = `plugin "${manifest.name}"`;
  const giveUp = new AbortController();
  const answer = introduce(introduction, link, giveUp.signal).then(
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
    const cause = heard.value.got === "error" ? heard.value.cause : undefined;
    const exit = heard.value.got === "exit" ? heard.value.exit : await exitBehind(cause, exited);
    if (exit !== undefined) return failedForNow("unavailable", `${name} ${sayExit(exit)} right after it said hello`);
    const why = cause instanceof Error ? cause.message : String(cause);
    return failedForNow("unavailable", `${name} refused Initialize: ${why.slice(0, MAX_CAUSE_CHARS)}`);
  } finally {
    giveUp.abort();
  }
}

/** Who is whom. A plugin may name its tools at once, or when it is asked for them. */
async function introduce(
  { manifest, hostVersion, allow, config, hostFeatures, granted, folder }: Introduction,
  link: PluginLink,
  signal: AbortSignal,
): Promise<Initialized> {
  const dataFolder = dataFolderOf(granted, folder);
  const facts = { hostVersion, granted: [...allow], config, features: [...hostFeatures], dataFolder };
  const answer = await link.initialize(facts, signal);
  if (answer.tools.length > 0 || manifest.tools.length === 0) return answer;
  return { ...answer, tools: await listTools(link, signal) };
}

async function listTools(link: PluginLink, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return await link.listTools(signal);
  } catch (cause) {
    // It serves neither, so it serves none.
    if (cause instanceof LinkError && cause.kind === "unserved") return [];
    throw cause;
  }
}

/** What the plugin says of itself must be what the person and the model were shown. */
function judgeInitialized(manifest: PluginManifest, answer: Initialized): Started<Initialized> {
  const refuse = (problem: string) =>
    failedForGood(
      "invalid",
      `plugin "${manifest.name}" ${problem}`,
      "mend plugin.json or the program, then install it again",
    );
  if (answer.version !== manifest.version) {
    return refuse(`says it is version ${quote(answer.version)}, its plugin.json says ${manifest.version}`);
  }
  // What it offers while it runs is judged then.
  if (manifest.dynamic && answer.tools.length === 0) return { ok: true, value: answer };
  const served = new Set(answer.tools);
  const declared = new Set(manifest.tools.map(({ name }) => name));
  const [extra, missing] = [
    [...served].filter((name) => !declared.has(name)),
    [...declared].filter((name) => !served.has(name)),
  ];
  const problems = [
    ...(extra.length === 0 ? [] : [`serves ${nameTools("a tool", extra)} that its plugin.json does not declare`]),
    ...(missing.length === 0 ? [] : [`does not serve ${nameTools("the tool", missing)} that its plugin.json declares`]),
  ];
  return problems.length === 0 ? { ok: true, value: answer } : refuse(problems.join(", and "));
}

/** All at once, so that an author mends them at once. */
function nameTools(one: string, [first = "", ...others]: readonly string[]): string {
  if (others.length === 0) return `${one} ${quote(first)}`;
  const named = [first, ...others].slice(0, MAX_NAMED_TOOLS).map(quote).join(", ");
  return `the tools ${named}${others.length >= MAX_NAMED_TOOLS ? " …" : ""}`;
}

/** A stranger's word, short enough for a message. */
function quote(word: string): string {
  return JSON.stringify(word.slice(0, MAX_WORD_CHARS));
}

/** The first folder of its own that it may write. */
function dataFolderOf(granted: Grant, folder: string): string {
  const [first] = ownWritePaths(granted, folder);
  return first === undefined ? "" : join(folder, first);
}
