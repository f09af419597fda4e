import { lstat, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { showableLine } from "../../core/domain/showable.ts";
import type { Exit, FilteredNetwork, Launcher, LeasedProcess } from "../../sandbox/os/launcher.ts";
import { hearHello, sayBoot } from "../link/handshake.ts";
import { openJsonRpcLink } from "../link/json-rpc-link.ts";
import type { LogRing } from "../link/log-ring.ts";
import { dialPlugin } from "../link/plugin-client.ts";
import type { Initialized, PluginLink } from "../link/plugin-link.ts";
import { failedForGood, failedForNow, type Started, type StartFailed } from "../link/start-outcome.ts";
import { waitFor } from "../link/wait.ts";
import { removeTree } from "../manifest/remove-tree.ts";
import { type Introduction, initialize } from "./initialize.ts";
import { grantedVariables, planLaunch } from "./launch-plan.ts";

/** 107 bytes is the least that systems allow for the path of a socket; some runtimes stop earlier. */
const MAX_SOCKET_PATH_BYTES = 100;
const TOKEN_BYTES = 32;
const FOLDER_NAME_BYTES = 4;
/** The rungs of the ladder by which a plugin is stopped. */
const SHUTDOWN_MS = 2_000;
type Rungs = { readonly tetherMs: number; readonly terminateMs: number };
const RUNGS: Rungs = { tetherMs: 1_000, terminateMs: 2_000 };
/** What legacy plugins are used to. */
const LEGACY_RUNGS: Rungs = { tetherMs: 250, terminateMs: 1_000 };
const KILL_MS = 2_000;
/** Of what a plugin says about itself in its log. */
const MAX_FEATURES = 16;
const MAX_READY_CHARS = 300;
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
  /** Why, for people, when it is more than the end of a start. */
  kill(because?: string): void;
  /** What the first `kill` said. */
  killedBecause(): string | undefined;
  /**
   * Lets it tidy up for at most `tidyMs`, unless `hurry` is given and aborts; then asks it to end, cuts the tether, sends
   * SIGTERM, then SIGKILL: at most seven seconds more.
   */
  stop(reason: string, tidyMs: number, hurry?: AbortSignal): Promise<void>;
};

export type FarLauncher = (sockets: { readonly listen: string; readonly host: string } | undefined) => LeasedProcess;

export type IncarnationParts = Introduction & {
  readonly runtimeDir: string;
  readonly launcher: Launcher;
  /**
   * Starts the process of a plugin of another machine, and leads its two sockets there; undefined for one of this machine.
   * One that speaks by its standard streams has no sockets.
   */
  readonly launchFar?: FarLauncher | undefined;
  /** The daemon's own variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nodeBinary: string;
  readonly hidden: readonly string[];
  /** Files of the house that it sees, absolute. */
  readonly programs: readonly string[];
  /** What it is told and its log must never show. */
  readonly secrets: readonly string[];
  /** Majors of clawd.plugin that are offered to it. */
  readonly hostMajors: readonly number[];
  readonly log: LogRing;
  /** Opens the host's services on a socket of this process alone. */
  readonly serveHost: (socketPath: string, token: string) => Promise<{ close(): void }>;
  /** Hears of every connection that was denied. */
  readonly onDenied: FilteredNetwork["onDenied"];
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
    const isLegacy = manifest.protocol === "json-rpc";
    const process =
      parts.launchFar === undefined
        ? parts.launcher.launch(planLaunch({ ...parts, socketFolder, level: parts.launcher.level }))
        : parts.launchFar(isLegacy ? undefined : { listen, host });
    const lent = Object.values(grantedVariables(parts.granted, parts.env));
    closers.push(log.redact([tokens.inbound, tokens.outbound, ...lent, ...parts.secrets]));
    const where = parts.launchFar === undefined ? `process ${process.pid}` : "on its own machine";
    log.startLife(`started ${manifest.name} ${manifest.version}, ${where}`);
    const drained = Promise.all([
      // What a legacy plugin writes there are its answers.
      ...(isLegacy ? [] : [log.drain("stdout", process.stdout)]),
      log.drain("stderr", process.stderr),
    ]);
    const exited = process.exited.then((exit) => letPipesEnd(process, drained, exit));
    closers.push(async () => {
      process.kill();
      await waitFor(exited, KILL_MS);
    });
    const meeting = { listen, host, tokens, closers, deadlineMs };
    const opened: Started<Opened> = isLegacy
      ? { ok: true, value: { link: openJsonRpcLink(process, log), sdk: "" } }
      : await shakeHands(parts, process, meeting, signal);
    if (!opened.ok) return await abandon(opened);
    const { link, sdk } = opened.value;
    closers.push(link.close);
    const ready = await initialize(parts, link, exited, deadlineMs - now(), signal);
    if (!ready.ok) return await abandon(ready);
    log.add("host", sayReady(link, sdk, ready.value));
    return { ok: true, value: makeIncarnation(process, exited, link, closeAll, isLegacy ? LEGACY_RUNGS : RUNGS) };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return await abandon(failedForNow("unavailable", `plugin "${manifest.name}" cannot be started: ${why}`));
  }
}

type Meeting = {
  readonly listen: string;
  readonly host: string;
  readonly tokens: { readonly inbound: string; readonly outbound: string };
  readonly closers: (() => Promise<void> | void)[];
  readonly deadlineMs: number;
};

/** `sdk` is what the plugin calls the library that it was built with; empty when it says nothing. */
type Opened = { readonly link: PluginLink; readonly sdk: string };

/** Opens the host's services, exchanges Boot and Hello, and dials the plugin's socket. */
async function shakeHands(
  { manifest, hostMajors, hostVersion, serveHost, now }: IncarnationParts,
  process: LeasedProcess,
  { listen, host, tokens, closers, deadlineMs }: Meeting,
  signal: AbortSignal,
): Promise<Started<Opened>> {
  const majors = hostMajors.filter((major) => manifest.protocolMajors.includes(major));
  if (majors.length === 0) return noCommonMajor(manifest, hostMajors);
  // Loads the gRPC stack while the process starts; the plugin is told of the socket afterwards.
  const services = await serveHost(host, tokens.outbound);
  closers.push(services.close);
  const boot = { listen, host, inboundToken: tokens.inbound, outboundToken: tokens.outbound, hostVersion };
  sayBoot(process.stdin, { ...boot, protocolMajors: majors });
  const hello = await hearHello({ ...manifest, hostMajors: majors }, process, deadlineMs - now(), signal);
  if (!hello.ok) return hello;
  if (!(await isSocket(listen))) {
    return failedForNow("invalid", `plugin "${manifest.name}" said hello but does not listen on its socket`);
  }
  return { ok: true, value: { link: await dialPlugin(listen, tokens.inbound, hello.value), sdk: hello.value.sdk } };
}

/** With whom the host speaks, and how; for whoever looks for the reason of a quarrel. */
function sayReady({ wire }: PluginLink, sdk: string, { features }: Initialized): string {
  const library = sdk === "" ? "" : `, built with ${sdk}`;
  const more = features.length === 0 ? "" : `, with ${features.slice(0, MAX_FEATURES).join(", ")}`;
  return showableLine(`it is ready: ${wire}${library}${more}`).slice(0, MAX_READY_CHARS);
}

function noCommonMajor(
  { name, protocolMajors }: IncarnationParts["manifest"],
  hostMajors: readonly number[],
): StartFailed {
  return failedForGood(
    "invalid",
    `plugin "${name}" speaks clawd.plugin major ${protocolMajors.join(", ")}; this host speaks ${hostMajors.join(", ")}`,
    "take a version of the plugin that fits this clawd, or the other way round",
  );
}

function makeIncarnation(
  process: LeasedProcess,
  exited: Promise<Exit>,
  link: PluginLink,
  closeAll: () => Promise<void>,
  { tetherMs, terminateMs }: Rungs,
): Incarnation {
  let isGone = false;
  let killedBecause: string | undefined;
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
    kill(because) {
      killedBecause ??= because;
      isGone = true;
      process.kill();
    },
    killedBecause: () => killedBecause,
    stop: async (reason, tidyMs, hurry) => {
      if (tidyMs > 0) await waitFor(Promise.race([link.drain(tidyMs), exited]), tidyMs, hurry);
      // A plugin without Shutdown refuses at once, and the next rung follows.
      const asked = link.shutdown(reason, SHUTDOWN_MS).then((taken) => (taken ? exited : undefined));
      const left = await waitFor(Promise.race([asked, exited]), SHUTDOWN_MS);
      if (left.came !== "value" || left.value === undefined) {
        process.stdin.end();
        if (!(await gone(tetherMs))) {
          process.terminate();
          await gone(terminateMs);
        }
      }
      await closeAll();
    },
  };
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
