import { randomBytes } from "node:crypto";
import { networkInterfaces, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import { openEgress } from "../../sandbox/egress/egress.ts";
import { probeLauncher } from "../../sandbox/os/probe.ts";
import { type Grant, type Permission, parsePermission } from "../../sandbox/permission/permission.ts";
import { machineClock } from "../life/clock.ts";
import { fieldOf, textOf } from "../remote/wire.ts";
import { runAgent } from "./agent.ts";
import { takeState } from "./agent-state.ts";
import { bringPlugin } from "./brought-plugin.ts";

/** An orderly end that takes longer than this becomes a plain one. */
const END_LIMIT_MS = 5_000;
/** Timers of ours keep nothing alive, and an agent that waits for its daemon has nothing else. */
const KEEP_ALIVE_MS = 60 * 60_000;

/** What `claw plugin agent` was told; see there. */
type Orders = {
  readonly folder: string;
  readonly stateDir: string;
  readonly token: string;
  readonly listen: string;
  readonly trusted: boolean;
  readonly flags: readonly string[];
};

function say(line: string): void {
  process.stderr.write(`${new Date().toISOString()} ${line}\n`);
}

function giveUp({ message, hint }: Failure): number {
  process.stderr.write(`claw: ${message}\n${hint === undefined ? "" : `  → ${hint}\n`}`);
  return 1;
}

async function main(): Promise<number> {
  const orders = readOrders(process.env.CLAWD_AGENT ?? "");
  const allowed = readAllowed(orders);
  if (!allowed.ok) return giveUp(allowed.failure);
  const programs = dirname(fileURLToPath(import.meta.url));
  const state = await takeState(orders.stateDir, process.env.XDG_RUNTIME_DIR || tmpdir());
  if (!state.ok) return giveUp(state.failure);
  const { runtimeDir, release } = state.value;
  process.once("exit", release);
  const keepAlive = setInterval(() => {}, KEEP_ALIVE_MS);
  const ending = new AbortController();
  const end = () => {
    if (ending.signal.aborted) process.exit(1);
    ending.abort();
    setTimeout(() => process.exit(1), END_LIMIT_MS).unref();
  };
  process.on("SIGTERM", end);
  process.on("SIGINT", end);

  const clock = machineClock(Date.now);
  const egress = openEgress({ ownAddresses });
  const launcher = await probeLauncher({
    searchPath: process.env.PATH ?? "",
    wanted: "auto",
    nodeBinary: process.execPath,
    door: { egress, forwarderFile: join(programs, "egress-forwarder.js"), socketsDir: join(runtimeDir, "egress") },
  });
  const { CLAWD_AGENT: _orders, ...env } = process.env;
  const brought = await bringPlugin(
    {
      ...{ stateDir: orders.stateDir, launcher, nodeBinary: process.execPath, env, clock, log: say },
      ...{ allowed: allowed.value, trusted: orders.trusted },
      sdkFile: join(programs, "..", "plugin-host", "sdk", "plugin.ts"),
    },
    orders.folder,
  );
  if (!brought.ok) return giveUp(brought.failure);
  const plugin = brought.value;
  say(`brings ${plugin.name} ${plugin.version}; sandbox: ${launcher.level}`);
  const ended = await runAgent(
    {
      ...{ plugin, runtimeDir, clock, log: say, random: randomBytes },
      ...{ stateDir: orders.stateDir, token: orders.token, listen: orders.listen },
      onListening: (address) => say(`listens on ${address}`),
    },
    ending.signal,
  );
  clearInterval(keepAlive);
  return ended.ok ? 0 : giveUp(ended.failure);
}

/** The addresses of this machine's own interfaces, now. */
function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));
}

function readOrders(text: string): Orders {
  const json: unknown = JSON.parse(text === "" ? "{}" : text);
  const flags = fieldOf(json, "flags");
  const said = (name: string) => textOf(json, name) ?? "";
  return {
    ...{ folder: said("folder"), stateDir: said("stateDir"), token: said("token"), listen: said("listen") },
    trusted: fieldOf(json, "trusted") === true,
    flags: Array.isArray(flags) ? flags.map(String) : [],
  };
}

/** The flags `allow-…` and `deny-…` as they were written. */
function readAllowed({ flags, folder }: Orders): Result<Grant> {
  const allow: Permission[] = [];
  const deny: Permission[] = [];
  for (const flag of flags) {
    const [, verdict, words = ""] = /^(allow|deny)-(.*)$/s.exec(flag) ?? [];
    const parsed = parsePermission(words, folder);
    if (!parsed.ok) return fail("invalid", `--${flag}: ${parsed.message}`);
    (verdict === "deny" ? deny : allow).push(...parsed.value);
  }
  return ok({ allow, deny });
}

process.exitCode = await main();
// Idle sockets would keep it.
process.exit();
