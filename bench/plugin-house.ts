// Plugins that were installed through the front door, each started as the daemon starts it, with its link in our hands.

import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleFixture, type FolderFiles, type Lab, openLab } from "../plugin-host/fixtures/plugin-lab.ts";
import { type Incarnation, startIncarnation } from "../plugin-host/life/incarnation.ts";
import { createLogRing } from "../plugin-host/link/log-ring.ts";
import { readManifest } from "../plugin-host/manifest/read-manifest.ts";
import { judgeWants } from "../plugin-host/manifest/wants.ts";
import { openArtifacts } from "../plugin-host/service/artifacts.ts";
import { liveCalls } from "../plugin-host/service/live-calls.ts";
import { processServices } from "../plugin-host/service/process-services.ts";
import { openSecrets } from "../plugin-host/service/secrets.ts";
import { storeBudget } from "../plugin-host/service/value-methods.ts";
import type { Launcher } from "../sandbox/os/launcher.ts";
import { buildGo } from "../tests/kit/go-build.ts";
import { CLAW, removeFolder, startDaemon } from "./house.ts";

const ROOT = join(import.meta.dirname, "..");
const HELLO = join(ROOT, "plugins-examples/hello");
const PYTHON_LIBRARY = join(ROOT, "plugins-examples/python-stdlib/clawd_plugin.py");

/** The same plugin several times, by what it is built on. */
export type Kind = "sdk" | "grpc-js" | "python" | "go";
const USUAL_KINDS: readonly Kind[] = ["sdk", "grpc-js", "python"];

export type PluginBench = {
  /** Starts a process of it; nothing of a start before is left in its way. */
  start(kind: Kind, launcher: Launcher): Promise<Incarnation>;
  close(): Promise<void>;
};

function manifestOf(kind: Kind): Record<string, unknown> {
  const tools = ["echo", "pour", "hang"].map((name) => ({
    ...{ name, description: `Does ${name}.`, inputSchema: { type: "object" } },
  }));
  const command = {
    ...{ sdk: ["node", "main.ts"], "grpc-js": ["node", "main.mjs"], python: ["python3", "main.py"] },
    go: ["./echo"],
  };
  const protocolMajors = kind === "sdk" || kind === "go" ? [1, 2] : [1];
  return {
    ...{ manifestVersion: 1, name: `echo-${kind}`, version: "1.0.0", protocolMajors },
    ...{ launch: { command: command[kind] }, tools, hooks: [{ at: "tool.before" }] },
  };
}

async function filesOf(kind: Kind): Promise<FolderFiles> {
  const fixture = (name: string) => readFileSync(join(import.meta.dirname, "fixtures", name), "utf8");
  if (kind === "sdk") return { "main.ts": fixture("echoing.ts") };
  if (kind === "go") return { echo: await buildGo(join(import.meta.dirname, "fixtures/echoing-go")) };
  if (kind === "grpc-js") return { "main.mjs": await bundleFixture("../../bench/fixtures/echoing-grpc-js.ts") };
  return { "main.py": fixture("echoing.py"), "clawd_plugin.py": readFileSync(PYTHON_LIBRARY, "utf8") };
}

export async function openPluginBench(kinds = USUAL_KINDS): Promise<PluginBench> {
  const lab = await openLab();
  for (const kind of kinds) {
    const folder = lab.author(manifestOf(kind) as Parameters<Lab["author"]>[0], await filesOf(kind));
    const installed = await lab.host.admin.install(folder, true);
    if (!installed.ok) throw new Error(`${installed.failure.message} ${installed.failure.hint ?? ""}`);
  }
  mkdirSync(lab.options.runtimeDir, { recursive: true, mode: 0o700 });
  return { start: (kind, launcher) => start(lab, kind, launcher), close: () => lab.close() };
}

async function start({ options }: Lab, kind: Kind, launcher: Launcher): Promise<Incarnation> {
  const name = `echo-${kind}`;
  const folder = join(options.pluginsDir, name);
  const read = readManifest(folder);
  if (!read.ok) throw new Error(read.failure.message);
  const { manifest } = read.value;
  const granted = judgeWants(manifest, folder, []);
  if (!granted.ok) throw new Error(granted.failure.message);
  const log = createLogRing(Date.now);
  const { now, random, records, recall } = options;
  const { serve, onDenied } = processServices({
    ...{
      plugin: name,
      filesSha256: "",
      granted: granted.value,
      log,
      calls: liveCalls(),
      storeBudget: storeBudget(now),
    },
    ...{
      records,
      artifacts: openArtifacts(options.artifactsDir, random),
      recall,
      now,
      random,
      offer: undefined,
      generation: undefined,
    },
    secrets: openSecrets(join(options.artifactsDir, "../secrets")),
  });
  const started = await startIncarnation(
    {
      ...{ manifest, folder, granted: granted.value, allow: [], config: {}, hidden: [], hostMajors: [1, 2], log },
      ...{ programs: [], secrets: [] },
      ...{
        hostVersion: options.hostVersion,
        hostFeatures: [],
        runtimeDir: options.runtimeDir,
        launcher,
        env: {},
        nodeBinary: options.nodeBinary,
      },
      ...{ serveHost: serve, onDenied, now, random: randomBytes },
    },
    new AbortController().signal,
  );
  if (!started.ok) throw new Error(`${started.failure.message} ${started.failure.hint ?? ""}`);
  return started.value;
}

/** Installs the hello plugin so many times under different names, through the front door. */
export async function installCopies(home: string, copies: number): Promise<void> {
  const daemon = await startDaemon(home);
  for (let index = 0; index < copies; index += 1) {
    const folder = mkdtempSync(join(tmpdir(), "clawd-copy-"));
    cpSync(HELLO, folder, { recursive: true });
    const file = join(folder, "plugin.json");
    const manifest = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...manifest, name: `copy${index}` }));
    execFileSync(process.execPath, [CLAW, "plugin", "install", folder, "--yes"], { env: daemon.env, stdio: "ignore" });
    removeFolder(folder);
  }
  await daemon.stop();
}
