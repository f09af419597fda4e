import { lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Exit, FilteredNetwork, Launcher, LeasedProcess } from "../../sandbox/os/launcher.ts";
import type { Grant } from "../../sandbox/permission/permission.ts";
import { hearHello, sayBoot } from "../link/handshake.ts";
import type { LogRing } from "../link/log-ring.ts";
import { dialPlugin } from "../link/plugin-client.ts";
import type { Initialized, PluginLink } from "../link/plugin-link.ts";
import { EXIT_GRACE_MS, failedForGood, failedForNow, type Started, sayExit } from "../link/start-outcome.ts";
import { waitFor } from "../link/wait.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import { removeTree } from "../manifest/remove-tree.ts";
import { planLaunch } from "./launch-plan.ts";

/** 107 bytes is the least that systems allow for the path of a socket; some runtimes stop earlier. */
const MAX_SOCKET_PATH_BYTES = 100;
const TOKEN_BYTES = 32;
const FOLDER_NAME_BYTES = 4;
/** The rungs of the ladder by which a plugin is stopped. */
const SHUTDOWN_MS = 2_000;
const TETHER_MS = 1_000;
const TERMINATE_MS = 2_000;
const KILL_MS = 2_000;
/** A grandchild may hold the pipes of a plugin that is gone; nobody waits longer than this for them. */
const PIPES_MS = 250;

/** One life of a plugin: a process that said hello and was initialized. */
export type Incarnation = {
  readonly pid: number;
  /** Resolves when the process is gone, with its last words in the log. */
  readonly exited: Promise<Exit>;
  /**
   * Tells a listener the same, and gives a way to forget it. A call listens here: what races with `exited` itself is held
   * by it, result included, for the whole life of the process.
   */
  onExit(listener: (exit: Exit) => void): () => void;
  /** True from the very moment that it is gone, or was killed by us and has yet to go: no call may be given to it. */
  isGone(): boolean;
  /** Resolves after that, when its sockets are gone too. */
  readonly cleaned: Promise<void>;
  readonly link: PluginLink;
  kill(): void;
  /** Asks, then cuts the tether, then SIGTERM, then SIGKILL: at most seven seconds in all. */
  stop(reason: string): Promise<void>;
};

export type IncarnationParts = {
  readonly manifest: PluginManifest;
  readonly granted: Grant;
  readonly folder: string;
  readonly runtimeDir: string;
  readonly launcher: Launcher;
  readonly nodeBinary: string;
  readonly hidden: readonly string[];
  readonly hostVersion: string;
  readonly log: LogRing;
  /** Opens the host's services on a socket of this process alone. */
  readonly serveHost: (socketPath: string, token: string) => Promise<{ close(): void }>;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
};

/** Starts a process, shakes hands and initializes it, all within the manifest's start timeout. Leaves nothing on failure. */
export async function startIncarnation(parts: IncarnationParts, signal: AbortSignal): Promise<Started<Incarnation>> {
  const { manifest, random, now, log } = parts;
  const deadlineMs = now() + manifest.startTimeoutMs;
  const socketFolder = join(parts.runtimeDir, Buffer.from(random(FOLDER_NAME_BYTES)).toString("hex"));
  const [listen, host] = [join(socketFolder, "p.sock"), join(socketFolder, "h.sock")];
  if (Buffer.byteLength(listen) > MAX_SOCKET_PATH_BYTES) {
    return failedForGood(
      "invalid",
      `the path ${listen} is too long for a socket`,
      "set XDG_RUNTIME_DIR to a shorter folder",
    );
  }
  const tokens = { inbound: randomToken(random), outbound: randomToken(random) };
  const closers: (() => Promise<void> | void)[] = [];
  let closing: Promise<void> | undefined;
  const closeAll = () => {
    closing ??= (async () => {
      for (const close of closers.reverse()) await close();
    })();
    return closing;
  };
  const abandon = async (failure: Started<never>): Promise<Started<never>> => {
    await closeAll();
    return withLastErrors(failure, log);
  };
  try {
    await mkdir(socketFolder, { mode: 0o700 });
    closers.push(() =>
      removeTree(socketFolder).catch((cause: unknown) =>
        log.add("host", `${socketFolder} stays behind: ${String(cause)}`),
      ),
    );
    const onDenied: FilteredNetwork["onDenied"] = ({ message, hint }) => log.add("host", `${message}; ${hint}`);
    const process = parts.launcher.launch(
      planLaunch({ ...parts, socketFolder, level: parts.launcher.level, onDenied }),
    );
    log.startLife(`started ${manifest.name} ${manifest.version}, process ${process.pid}`);
    const drained = Promise.all([log.drain("stdout", process.stdout), log.drain("stderr", process.stderr)]);
    const exited = process.exited.then((exit) => letPipesEnd(process, drained, exit));
    closers.push(async () => {
      process.kill();
      await waitFor(exited, KILL_MS);
    });
    // Loads the gRPC stack while the process starts; the plugin is told of the socket afterwards.
    const services = await parts.serveHost(host, tokens.outbound);
    closers.push(services.close);
    sayBoot(process.stdin, { listen, host, inboundToken: tokens.inbound, outboundToken: tokens.outbound });
    const hello = await hearHello(manifest, process, deadlineMs - now(), signal);
    if (!hello.ok) return await abandon(hello);
    if (!(await isSocket(listen))) {
      return await abandon(
        failedForNow("invalid", `plugin "${manifest.name}" said hello but does not listen on its socket`),
      );
    }
    const link = await dialPlugin(listen, tokens.inbound);
    closers.push(link.close);
    const ready = await initialize(parts, link, exited, deadlineMs - now(), signal);
    if (!ready.ok) return await abandon(ready);
    return { ok: true, value: makeIncarnation(process, exited, link, closeAll) };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return await abandon(failedForNow("unavailable", `plugin "${manifest.name}" cannot be started: ${why}`));
  }
}

function makeIncarnation(
  process: LeasedProcess,
  exited: Promise<Exit>,
  link: PluginLink,
  closeAll: () => Promise<void>,
): Incarnation {
  let isGone = false;
  void process.exited.then(() => {
    isGone = true;
  });
  const listeners = new Set<(exit: Exit) => void>();
  let ended: Exit | undefined;
  void exited.then((exit) => {
    ended = exit;
    for (const listener of listeners) listener(exit);
  });
  const gone = async (withinMs: number) => (await waitFor(exited, withinMs)).came === "value";
  return {
    pid: process.pid,
    exited,
    onExit: (listener) => {
      if (ended === undefined) listeners.add(listener);
      else listener(ended);
      return () => listeners.delete(listener);
    },
    isGone: () => isGone,
    cleaned: exited.then(closeAll),
    link,
    kill() {
      isGone = true;
      process.kill();
    },
    stop: async (reason) => {
      // A plugin without Shutdown refuses at once, and the next rung follows.
      const asked = link.shutdown(reason, SHUTDOWN_MS).then((taken) => (taken ? exited : undefined));
      const left = await waitFor(Promise.race([asked, exited]), SHUTDOWN_MS);
      if (left.came !== "value" || left.value === undefined) {
        process.stdin.end();
        if (!(await gone(TETHER_MS))) {
          process.terminate();
          await gone(TERMINATE_MS);
        }
      }
      await closeAll();
    },
  };
}

async function initialize(
  { manifest, hostVersion }: IncarnationParts,
  link: PluginLink,
  exited: Promise<Exit>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Started<void>> {
  const name = `plugin "${manifest.name}"`;
  const giveUp = new AbortController();
  const answer = link
    .initialize({ hostVersion, granted: manifest.wants.map(({ permission }) => permission) }, giveUp.signal)
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
        `${name} said hello, but did not answer Initialize within its ${manifest.startTimeoutMs} ms`,
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

async function letPipesEnd(process: LeasedProcess, drained: Promise<unknown>, exit: Exit): Promise<Exit> {
  await waitFor(drained, PIPES_MS);
  for (const stream of [process.stdin, process.stdout, process.stderr, ...process.pipes]) stream.destroy();
  return exit;
}

function withLastErrors(failed: Started<never>, log: LogRing): Started<never> {
  const errors = log.lastErrors();
  if (failed.ok || errors === "") return failed;
  const hint = [failed.failure.hint, `its last words: ${errors}`].filter((part) => part !== undefined).join("; ");
  return { ...failed, failure: { ...failed.failure, hint } };
}

async function isSocket(path: string): Promise<boolean> {
  // Never follow a link here: the plugin could point it at a socket of somebody else.
  return (await lstat(path).catch(() => undefined))?.isSocket() ?? false;
}

function randomToken(random: (bytes: number) => Uint8Array): string {
  return Buffer.from(random(TOKEN_BYTES)).toString("base64url");
}
