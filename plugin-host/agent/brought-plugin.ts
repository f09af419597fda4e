import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { Launcher, LaunchSpec, LeasedProcess } from "../../sandbox/os/launcher.ts";
import type { Grant } from "../../sandbox/permission/permission.ts";
import { digestFolder } from "../install/folder-digest.ts";
import { isOwnWritePath, placeStaged, recoverInstalls, stagePlugin } from "../install/install.ts";
import type { Clock } from "../life/clock.ts";
import { watchDisk } from "../life/disk-watch.ts";
import { planLaunch } from "../life/launch-plan.ts";
import type { PluginManifest } from "../manifest/manifest.ts";
import { readManifest } from "../manifest/read-manifest.ts";
import { judgeWants, ownWritePaths, prepareWritePaths } from "../manifest/wants.ts";
import type { StartOrder } from "../remote/wire.ts";
import { cutGrant } from "./allowance.ts";

export type BringParts = {
  /** The agent's own folder, which its plugin never sees. */
  readonly stateDir: string;
  /** What "clawd/plugin" means in a plugin that is bundled. */
  readonly sdkFile: string;
  readonly launcher: Launcher;
  readonly nodeBinary: string;
  /** This machine's variables, of which the plugin gets those that both sides granted by name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the owner of this machine lets a plugin touch. */
  readonly allowed: Grant;
  /** It may run without a sandbox where there is none. */
  readonly trusted: boolean;
  readonly clock: Clock;
  readonly log: (line: string) => void;
};

/** The plugin that an agent brings: a copy of its author's folder. */
export type BroughtPlugin = {
  readonly name: string;
  readonly version: string;
  readonly manifestJson: JsonObject;
  /** SHA-256 over its files, hex. */
  readonly filesSha256: string;
  /** Starts a process of it, with what was ordered and allowed both, and its sockets in a folder. */
  start(order: StartOrder, socketFolder: string): Promise<Result<LeasedProcess>>;
};

/** Copies a plugin's folder, where nobody changes it any more, and reads it. Runs nothing of it. */
export async function bringPlugin(parts: BringParts, source: string): Promise<Result<BroughtPlugin>> {
  const authored = readManifest(source);
  if (!authored.ok) return authored;
  const pluginsDir = join(parts.stateDir, "plugins");
  await recoverInstalls(pluginsDir);
  const place = { pluginsDir, sdkFile: parts.sdkFile, reserved: [parts.stateDir] };
  const staged = await stagePlugin(place, authored.value.manifest.name, source);
  if (!staged.ok) return staged;
  const placed = await placeStaged(staged.value);
  if (!placed.ok) return placed;
  const { folder, filesSha256 } = staged.value;
  const read = readManifest(folder);
  if (!read.ok) return read;
  const { manifest, json } = read.value;
  const plugin = { manifest, folder, filesSha256 };
  return ok({
    name: manifest.name,
    version: manifest.version,
    manifestJson: json,
    filesSha256,
    start: (order, socketFolder) => start(parts, plugin, order, socketFolder),
  });
}

async function start(
  parts: BringParts,
  { manifest, folder, filesSha256 }: { manifest: PluginManifest; folder: string; filesSha256: string },
  order: StartOrder,
  socketFolder: string,
): Promise<Result<LeasedProcess>> {
  const { stateDir, launcher, allowed, trusted, clock, log } = parts;
  const reserved = [stateDir];
  if (order.filesSha256 !== filesSha256) {
    return fail("conflict", "the daemon was granted other files than this agent brings", {
      hint: `grant these at the daemon: claw plugin install remote:${manifest.name}`,
    });
  }
  if (launcher.level === "none" && !trusted) {
    return fail("denied", `this machine has no sandbox for it (${launcher.detail})`, {
      hint: "install bubblewrap there, or start the agent with --trust",
    });
  }
  const wanted = judgeWants(manifest, folder, reserved);
  if (!wanted.ok) return wanted;
  const digest = await digestFolder(folder, isOwnWritePath(ownWritePaths(wanted.value, folder)));
  if (!digest.ok) return digest;
  if (digest.value !== filesSha256) {
    return fail("denied", `the files in ${folder} were changed`, { hint: "start the agent again" });
  }
  const asked = manifest.wants.filter(({ permission }) => order.allow.includes(permission));
  const granted = judgeWants({ ...manifest, wants: asked }, folder, reserved);
  if (!granted.ok) return granted;
  const cut = cutGrant(granted.value, allowed, folder);
  if (cut.refused.length > 0) {
    log(`granted at the daemon and not allowed here: ${cut.refused.join(" ")}`);
  }
  const prepared = await prepareWritePaths(cut.granted, folder, reserved);
  if (!prepared.ok) return prepared;
  const spec: LaunchSpec = planLaunch({
    ...{ manifest, granted: cut.granted, folder, socketFolder, hidden: reserved, programs: [] },
    ...{ nodeBinary: parts.nodeBinary, env: parts.env, level: launcher.level },
    onDenied: ({ message, hint }) => log(`${message}; ${hint}`),
  });
  const process = launcher.launch(spec);
  const share = {
    folders: ownWritePaths(cut.granted, folder).map((path) => join(folder, path)),
    limitMib: manifest.limits.diskMib,
  };
  const unwatch = watchDisk(share, clock, (because) => {
    log(`killed: ${because}`);
    process.kill();
  });
  void process.exited.then(unwatch);
  return ok(process);
}
