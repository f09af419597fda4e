import { ok, type Result } from "../../core/domain/failure.ts";
import { nearestWord } from "../../core/domain/nearest-word.ts";
import { type Launch, Protocol } from "../../proto/gen/clawd/plugin/v1/manifest_pb.ts";
import { hintOf, type Reject } from "./rejection.ts";

const DEFAULT_START_TIMEOUT_MS = 10_000;
const MAX_START_TIMEOUT_MS = 5 * 60_000;
const DEFAULT_IDLE_STOP_MS = 10 * 60_000;
const MAX_IDLE_STOP_MS = 24 * 60 * 60_000;
const MAX_COMMAND_PARTS = 256;
/** Those that Node runs on. */
const SYSTEMS = ["linux", "darwin", "win32", "freebsd", "openbsd", "aix", "sunos", "android"];
const MACHINES = ["x64", "arm64", "arm", "ia32", "riscv64", "loong64", "ppc64", "s390x", "mips", "mipsel"];

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Names that would change the loader or the handshake. */
const RESERVED_ENV = /^(LD_|DYLD_|CLAWD_|NODE_OPTIONS$)/;

/** True for a variable that no plugin may have, neither by its manifest nor by a grant. */
export function isReservedVariable(name: string): boolean {
  return RESERVED_ENV.test(name);
}

export type Command = readonly [string, ...string[]];

/** How a plugin is started and spoken to on this machine. */
export type PluginLaunch = {
  /** Of this platform. */
  readonly command: Command;
  readonly env: Readonly<Record<string, string>>;
  readonly startTimeoutMs: number;
  /** How it is spoken to before anything can be negotiated. */
  readonly protocol: "clawd" | "json-rpc";
  /** Time without a call after which it is stopped. */
  readonly idleStopMs: number;
  /** True when two lives of it must never overlap. */
  readonly singleton: boolean;
};

/** `platform` is that of this machine, e.g. "linux-x64". */
export function judgeLaunch(launch: Launch | undefined, platform: string, reject: Reject): Result<PluginLaunch> {
  const command = judgeCommands(launch, platform, reject);
  if (!command.ok) return command;
  for (const [name, value] of Object.entries(launch?.env ?? {})) {
    if (!ENV_NAME.test(name) || isReservedVariable(name))
      return reject(`launch.env.${name}`, "is not a variable that a plugin may set", "remove it");
    if (value.includes("\0")) return reject(`launch.env.${name}`, "holds a NUL byte", "remove it");
  }
  const startTimeoutMs = launch?.startTimeoutMs || DEFAULT_START_TIMEOUT_MS;
  if (startTimeoutMs > MAX_START_TIMEOUT_MS)
    return reject("launch.startTimeoutMs", `must be at most ${MAX_START_TIMEOUT_MS}`);
  const idleStopMs = launch?.idleStopMs || DEFAULT_IDLE_STOP_MS;
  if (idleStopMs > MAX_IDLE_STOP_MS) return reject("launch.idleStopMs", `must be at most ${MAX_IDLE_STOP_MS}`);
  const protocol = readProtocol(launch?.protocol ?? Protocol.UNSPECIFIED);
  if (protocol === undefined)
    return reject("launch.protocol", "is none of ours", "write PROTOCOL_CLAWD or PROTOCOL_JSON_RPC");
  return ok({
    command: command.value,
    env: { ...launch?.env },
    startTimeoutMs,
    protocol,
    idleStopMs,
    singleton: launch?.singleton ?? false,
  });
}

/** All commands are judged, also those of other platforms; the closest one is taken. */
function judgeCommands(launch: Launch | undefined, platform: string, reject: Reject): Result<Command> {
  const named = new Map<string, Command>();
  for (const [key, { command }] of Object.entries(launch?.platforms ?? {})) {
    const known = judgePlatform(key, reject);
    if (!known.ok) return known;
    const judged = judgeCommand(command, `launch.platforms.${key}.command`, reject);
    if (!judged.ok) return judged;
    named.set(key, judged.value);
  }
  const parts = launch?.command ?? [];
  const general = parts.length === 0 && named.size > 0 ? undefined : judgeCommand(parts, "launch.command", reject);
  if (general !== undefined && !general.ok) return general;
  const [system = platform] = platform.split("-");
  const closest = named.get(platform) ?? named.get(system) ?? general?.value;
  if (closest !== undefined) return ok(closest);
  return reject(
    "launch.platforms",
    `has no command for ${platform}, only for ${[...named.keys()].join(", ")}`,
    "add one, or write one for all others as launch.command",
  );
}

function judgePlatform(key: string, reject: Reject): Result<void> {
  const [system = "", machine, ...more] = key.split("-");
  if (!SYSTEMS.includes(system)) {
    return reject(`launch.platforms.${key}`, "is no platform", hintOf(nearestWord(system, SYSTEMS), SYSTEMS));
  }
  if (more.length > 0 || (machine !== undefined && !MACHINES.includes(machine))) {
    return reject(`launch.platforms.${key}`, "is no platform", `write "${system}" or, for example, "${system}-arm64"`);
  }
  return ok(undefined);
}

function judgeCommand(parts: readonly string[], field: string, reject: Reject): Result<Command> {
  const [program, ...args] = parts;
  if (program === undefined || program === "")
    return reject(field, "must name a program", 'write for example ["node", "main.js"]');
  if (parts.length > MAX_COMMAND_PARTS) return reject(field, `has more than ${MAX_COMMAND_PARTS} parts`);
  if (parts.some((part) => part.includes("\0"))) return reject(field, "holds a NUL byte", "remove it");
  if (program.includes("/") && !program.startsWith("/") && program.split("/").includes("..")) {
    return reject(field, `"${program}" leads out of the plugin's folder`, "put the program into the folder");
  }
  return ok([program, ...args]);
}

function readProtocol(protocol: Protocol): PluginLaunch["protocol"] | undefined {
  switch (protocol) {
    case Protocol.UNSPECIFIED:
    case Protocol.CLAWD:
      return "clawd";
    case Protocol.JSON_RPC:
      return "json-rpc";
    default:
      // A number that another release gave a meaning.
      return undefined;
  }
}
