// An engine on the bundled files, and hooks to fire at it.
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "@bufbuild/protobuf";
import { GUEST_LIBRARIES } from "../.ci/guest-bundles.ts";
import type { BrokerContext, Capabilities } from "../sandbox/broker/capabilities.ts";
import type { Engine, Fired, GuestPlan } from "../sandbox/isolate/engine.ts";
import type { HostFiles } from "../sandbox/isolate/host-launch.ts";
import { ISOLATE_LIMITS } from "../sandbox/isolate/limits.ts";
import { openEngine } from "../sandbox/isolate/open-engine.ts";
import { probeLauncher } from "../sandbox/os/probe.ts";
import { buildProgram } from "../sandbox/program/script-program.ts";
import { EVENT_TEXT } from "./hook-peers.ts";
import { temporaryFolder } from "./house.ts";

const EVENT = JSON.parse(EVENT_TEXT) as JsonValue;
const NEVER = new AbortController().signal;
const CONTEXT: BrokerContext = {
  record: async () => ({ ok: true, value: undefined }),
  ask: async () => ({ said: "nobody" }),
};

/** A hook that is granted nothing. */
function nothing(): Capabilities {
  return {
    call: async () => ({ ok: false, error: { name: "NotCapable", message: "nothing is granted" } }),
    open: async () => ({ env: { values: {}, allowed: [], denied: [] }, sys: {} }),
    attend() {},
    hadEffect: false,
    asking: 0,
    close() {},
  };
}

/** What measurements of hooks need: a folder, a launcher, and engines on the bundled files. */
export type HookBench = {
  readonly folder: string;
  readonly level: string;
  open(): Engine;
  /** A hook of this code in a file of its own. */
  plan(code: string): Promise<GuestPlan>;
};

/** Copies of what was bundled, so that a bundling meanwhile does not pull them away. */
function hostFiles(folder: string): HostFiles {
  const copied = (name: string) => {
    const file = join(folder, name);
    copyFileSync(join(import.meta.dirname, "../dist", name), file);
    return file;
  };
  const { platform, arch, versions, execPath } = process;
  const addon = `isolated-vm/prebuilds/${platform}-${arch}/isolated-vm.abi${versions.modules}.glibc.node`;
  return {
    nodeBinary: execPath,
    hostFile: copied("hook-host.js"),
    preludeFile: copied("guest-prelude.js"),
    libraryFiles: Object.fromEntries(Object.entries(GUEST_LIBRARIES).map(([name, file]) => [name, copied(file)])),
    addonFile: join(import.meta.dirname, "../node_modules", addon),
  };
}

export async function openHookBench(): Promise<HookBench> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const files = hostFiles(folder);
  const launcher = await probeLauncher({
    searchPath: process.env.PATH ?? "",
    wanted: "auto",
    nodeBinary: files.nodeBinary,
  });
  let written = 0;
  return {
    folder,
    level: launcher.level,
    open: () => openEngine({ launcher, files, limits: ISOLATE_LIMITS, now: () => performance.now() }),
    async plan(code) {
      written += 1;
      const home = join(folder, `hook-${written}`);
      mkdirSync(home);
      const file = join(home, "hook.ts");
      writeFileSync(file, `// hook ${written}\n${code}`);
      const program = await buildProgram(file);
      if (!program.ok) throw new Error(program.failure.message);
      const quiet = { capabilities: nothing, log: () => {}, fault: () => {}, killed: () => {} };
      return { name: `hook-${written}`, program: program.value, args: [], cwd: home, ...quiet };
    },
  };
}

export function fire(engine: Engine, group: string, guest: string, plan: GuestPlan): Promise<Fired> {
  return engine.fire({ group, guest, plan, event: EVENT, timeoutMs: 5000, context: CONTEXT, signal: NEVER });
}

/** Milliseconds until a hook has answered; throws when it does not. */
export async function answeredMs(engine: Engine, group: string, guest: string, plan: GuestPlan): Promise<number> {
  const startedMs = performance.now();
  const fired = await fire(engine, group, guest, plan);
  if (!fired.ok) throw new Error(fired.failure.message);
  return performance.now() - startedMs;
}
