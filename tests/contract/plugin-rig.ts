import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { type FolderFiles, writeFolder } from "../../plugin-host/fixtures/plugin-lab.ts";
import { hearHello, sayBoot } from "../../plugin-host/link/handshake.ts";
import { createLogRing } from "../../plugin-host/link/log-ring.ts";
import { dialPlugin } from "../../plugin-host/link/plugin-client.ts";
import type { PluginLink, ToolNews } from "../../plugin-host/link/plugin-link.ts";
import type { Started } from "../../plugin-host/link/start-outcome.ts";
import { type Hello, Wire } from "../../proto/gen/clawd/plugin/v1/plugin_pb.ts";
import type { LaunchSpec, LeasedProcess } from "../../sandbox/os/launcher.ts";
import { type Place, SANDBOX } from "./places.ts";

/** One process of a plugin in a place, with nothing of the host but its wire. */
export type PluginRig = {
  readonly hello: Started<Hello>;
  /** Speaks to it; only when it said a good hello. */
  readonly link: PluginLink;
  /** Another caller of the same socket. */
  dial(token: string): Promise<PluginLink>;
  readonly process: LeasedProcess;
  /** What it wrote on standard error, and the like. */
  lines(): readonly string[];
  call(tool: string, args?: object, signal?: AbortSignal): Promise<readonly ToolNews[]>;
  /** Kills what is left. */
  close(): Promise<void>;
};

const START_TIMEOUT_MS = 15_000;

export type RigChange = {
  readonly hostMajors?: readonly number[];
  readonly readable?: readonly string[];
  /** The sandbox of this machine unless told otherwise. */
  readonly place?: Place;
};

export async function startRig(
  command: readonly [string, ...string[]],
  files: FolderFiles,
  { hostMajors = [1, 2], readable = [], place = SANDBOX }: RigChange = {},
): Promise<PluginRig> {
  const dir = mkdtempSync(join(tmpdir(), "rig-"));
  const [folder, sockets] = [join(dir, "plugin"), join(dir, "run")];
  for (const path of [folder, sockets]) mkdirSync(path, { mode: 0o700 });
  const [program, ...args] = command;
  writeFolder(folder, files, program);
  const spec: LaunchSpec = {
    command: [programIn(folder, program), ...args],
    cwd: folder,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8", HOME: folder, CLAWD_PLUGIN: "1" },
    confinement: { read: [folder, ...readable], write: [sockets], network: "none", system: "programs" },
    limits: {},
    pipes: 1,
  };
  const launched = await place.launch(spec, sockets);
  const plugin = launched.process;
  const log = createLogRing(Date.now);
  const drained = Promise.all([log.drain("stdout", plugin.stdout), log.drain("stderr", plugin.stderr)]);
  const [listen, host] = [join(sockets, "p.sock"), join(sockets, "h.sock")];
  const tokens = { inboundToken: randomBytes(32).toString("base64url"), outboundToken: "out" };
  sayBoot(plugin.stdin, { listen, host, ...tokens, protocolMajors: [...hostMajors], hostVersion: "0.0.0-test" });
  const manifest = { name: "contract", startTimeoutMs: START_TIMEOUT_MS, hostMajors };
  const hello = await hearHello(manifest, plugin, START_TIMEOUT_MS, new AbortController().signal);
  const links: PluginLink[] = [];
  const dial = async (token: string) => {
    const chosen = hello.ok ? hello.value : { wire: Wire.GRPC, protocolMajor: 1 };
    const link = await dialPlugin(listen, token, chosen);
    links.push(link);
    return link;
  };
  const link = await dial(tokens.inboundToken);
  let calls = 0;
  return {
    hello,
    link,
    dial,
    process: plugin,
    lines: log.lines,
    async call(tool, args = {}, signal = new AbortController().signal) {
      const call = {
        callId: `c${++calls}`,
        sessionId: "s1",
        workspace: "/w",
        tool,
        args: args as never,
        timeLimitMs: 20_000,
      };
      return hearAll(link.callTool(call, signal));
    },
    async close() {
      for (const one of links) one.close();
      plugin.kill();
      await plugin.exited;
      for (const stream of [plugin.stdin, plugin.stdout, plugin.stderr, ...plugin.pipes]) stream.destroy();
      await drained;
      await launched.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** As a manifest means it: Node, a file of the folder, or a program of the system. */
function programIn(folder: string, program: string): string {
  if (program === "node") return process.execPath;
  return program.includes("/") && !isAbsolute(program) ? join(folder, program) : program;
}

/** All that a stream says. */
export async function hearAll<T>(stream: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const one of stream) all.push(one);
  return all;
}
