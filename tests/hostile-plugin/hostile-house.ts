import { type ChildProcess, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { homeAt } from "../../core/daemon/home.ts";
import type { ToolCallStatus } from "../../proto/gen/clawd/v1/event_pb.ts";
import { CLAW, dial, eventually, type Ran, startDaemon } from "../kit/claw.ts";
import { run } from "./run.ts";

const PROGRAMS = join(import.meta.dirname, "programs");
const SDK_FOR_PYTHON = join(import.meta.dirname, "../../plugins-examples/python-stdlib/clawd_plugin.py");
const HELLO = join(import.meta.dirname, "../../plugins-examples/hello");
const PYTHON = "/usr/bin/python3";
const SECRET = "swordfish-in-the-environment";
/** How long the daemon may owe an answer while somebody works against it, milliseconds: liveness, not speed. */
const ANSWER_LIMIT_MS = 20_000;
const LAST_WORDS_CHARS = 2_000;

export const pythonMissing = existsSync(PYTHON) ? "" : `there is no ${PYTHON}`;

/** What a call came to, as the session's journal tells it. */
export type Called = { readonly status: ToolCallStatus; readonly output: string; readonly progress: readonly string[] };

/** A person's machine in small, with a real daemon, hostile plugins, and one that only wants to greet. */
export type HostileHouse = {
  readonly person: string;
  readonly home: string;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
  /** What the attacks are told, as `P`. */
  readonly places: Record<string, string | number>;
  readonly daemonPid: () => number;
  claw(...args: readonly string[]): Promise<Ran>;
  /** Runs the same code outside of every sandbox. */
  outside(code: string): Promise<string>;
  /** Calls a tool in a session of its own; a call that left no start and no end in the journal is an error. */
  call(
    tool: string,
    args: JsonObject,
    more?: { readonly signal?: AbortSignal; readonly first?: string },
  ): Promise<Called>;
  /** `first` is said before, in the same breath: the call gets another id. */
  act(plugin: string, code: string, first?: string): Promise<string>;
  /** What the daemon holds of the machine's memory, MiB. */
  daemonMib(): number;
  /** Requests to servers that nobody was granted. */
  hits(): number;
  /** Events of the journal "plugins" so far, as their JSON. */
  records(): readonly JsonObject[];
  /** Writes a plugin as its author has it, and gives its folder. */
  author(name: string, manifest: JsonObject, files: Readonly<Record<string, string>>): string;
  /** The daemon answers, and so does a plugin that is nobody's enemy. */
  stillServes(): Promise<void>;
  /** Kills the daemon, without a word, and starts it again. */
  killDaemon(): Promise<void>;
  restart(): Promise<void>;
  install(name: string, manifest: JsonObject, files: Readonly<Record<string, string>>): Promise<Ran>;
  close(): Promise<void>;
};

export function attackerFiles(): Record<string, string> {
  return {
    "main.py": readFileSync(join(PROGRAMS, "attacker.py"), "utf8"),
    "attempt.py": readFileSync(join(PROGRAMS, "attempt.py"), "utf8"),
    "clawd_plugin.py": readFileSync(SDK_FOR_PYTHON, "utf8"),
  };
}

const TOOL_LIMIT_MS = 120_000;

/** A plugin of programs/attacker.py, with what it is granted. */
export function attackerManifest(name: string, permissions: readonly string[], limits: JsonObject = {}): JsonObject {
  const tool = (of: string) => ({
    ...{ name: of, description: "Does what it is told.", inputSchema: { type: "object" } },
    timeoutMs: TOOL_LIMIT_MS,
  });
  return {
    ...{ manifestVersion: 1, name, version: "1.0.0", protocolMajors: [1] },
    launch: { command: ["python3", "main.py", name] },
    tools: [tool("act"), tool("raw")],
    permissions: permissions.map((permission) => ({ permission, reason: "It works with that." })),
    limits,
  };
}

/** Without a grant of the network it could not even reach what it listens on itself. */
function prowlerManifest(grantedPort: number): JsonObject {
  const manifest = attackerManifest("prowler", ["run=python3", `net=127.0.0.1:${grantedPort}`], {
    memoryMib: 1024,
    processes: 128,
    concurrentCalls: 16,
  });
  return {
    ...manifest,
    launch: { command: ["node", "main.mjs"] },
    tools: (manifest.tools as JsonObject[]).slice(0, 1),
  };
}

function write(file: string, text: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

/** Servers of the machine that a plugin has no business with, and one that it was granted. */
async function openServers(folder: string) {
  let hits = 0;
  const closers: (() => void)[] = [];
  const page = (count: number) =>
    createServer((_request, response) => {
      hits += count;
      response.end("a page");
    });
  const [forbidden, allowed] = [page(1), page(0)];
  forbidden.on("connection", () => {
    hits += 1;
  });
  const [forbiddenPort, grantedPort] = await Promise.all([listening(forbidden), listening(allowed)]);
  const datagrams = createSocket("udp4", (_message, { port, address }) => {
    hits += 1;
    datagrams.send("pong", port, address);
  });
  datagrams.bind(0, "127.0.0.1");
  await once(datagrams, "listening");
  const abstractName = `clawd-hostile-${process.pid}`;
  const screenSocket = join(folder, ".X11-unix", "X0");
  mkdirSync(dirname(screenSocket));
  for (const path of [`\0${abstractName}`, screenSocket]) {
    const server = createSocketServer((wire) => {
      hits += 1;
      wire.end();
    }).listen(path);
    await once(server, "listening");
    closers.push(() => server.close());
  }
  for (const server of [forbidden, allowed])
    closers.push(
      () => void server.close(),
      () => server.closeAllConnections(),
    );
  closers.push(() => datagrams.close());
  const close = () => {
    for (const one of closers) one();
  };
  const places = { forbiddenPort, grantedPort, datagramPort: datagrams.address().port, abstractName, screenSocket };
  return { places, hits: () => hits, close };
}

/** The process whose arguments end so. */
export function findProcess(ending: string): number {
  const found = readdirSync("/proc").find((entry) => {
    if (!/^\d+$/.test(entry)) return false;
    try {
      return readFileSync(`/proc/${entry}/cmdline`, "utf8").replaceAll("\0", " ").trim().endsWith(ending);
    } catch {
      return false;
    }
  });
  return Number(found ?? 0);
}

export async function openHostileHouse(): Promise<HostileHouse> {
  const folder = mkdtempSync(join(tmpdir(), "clawd-hostile-"));
  const [person, workspace, authors] = ["person", "work", "authors"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const one of [person, workspace, authors]) mkdirSync(one);
  const home = join(person, ".clawd");
  const runtimeRoot = join(folder, "run");
  mkdirSync(runtimeRoot, { mode: 0o700 });
  const env = {
    ...{ PATH: process.env.PATH ?? "", HOME: person, CLAWD_HOME: home, XDG_RUNTIME_DIR: runtimeRoot, NO_COLOR: "1" },
    CLAWD_TEST_SECRET: SECRET,
  };
  const { sessions, artifacts, plugins, hooks, socket, runtime, tokenFile } = homeAt(home, runtimeRoot);
  const sshKey = write(join(person, ".ssh/id_ed25519"), "-----BEGIN OPENSSH PRIVATE KEY-----\n");
  const awsKey = write(join(person, ".aws/credentials"), "aws_secret_access_key = canary\n");
  write(join(person, "notes.md"), "the person's own notes\n");
  const configFile = write(
    join(home, "config.toml"),
    `[policy]\nallow = ["plugin_*"]\n\n[providers.gemini]\napi_key = "canary-of-a-key"\n\n[plugins]\ncrashes_allowed = 1000\n`,
  );
  write(join(workspace, "notes.md"), "three fish\n");
  write(tokenFile, "canary-of-a-token");
  const workspaceFile = write(join(workspace, "private.md"), "not for plugins\n");
  const servers = await openServers(folder);
  const decoy = spawn("sleep", ["600"], { stdio: "ignore" });
  let daemon: ChildProcess = await startDaemon(env);
  let lastWords = "";
  const hear = () =>
    daemon.stderr?.on("data", (piece) => {
      lastWords = (lastWords + piece).slice(-LAST_WORDS_CHARS);
    });
  hear();
  let clients = dial(home);

  const claw = (...args: readonly string[]) => run(process.execPath, [CLAW, ...args], { env, cwd: workspace });

  const author: HostileHouse["author"] = (name, manifest, files) => {
    const source = join(authors, name);
    rmSync(source, { recursive: true, force: true });
    mkdirSync(source, { recursive: true });
    writeFileSync(join(source, "plugin.json"), JSON.stringify(manifest));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(source, file), text);
    return source;
  };
  const install: HostileHouse["install"] = (name, manifest, files) =>
    claw("plugin", "install", author(name, manifest, files), "--yes");

  const call: HostileHouse["call"] = async (tool, args, { signal, first = "" } = {}) => {
    const { sessionId } = await clients.sessions.openSession({ workspace, model: "rehearsal" });
    const progress: string[] = [];
    let started = false;
    let ended: Called | undefined;
    const news = clients.sessions.subscribe({ sessionId, follow: true, attended: true }, { timeoutMs: TOOL_LIMIT_MS });
    const interrupt = () => void clients.sessions.interrupt({ sessionId });
    signal?.addEventListener("abort", interrupt, { once: true });
    for await (const { news: one } of news) {
      if (one.case === "caughtUp")
        await clients.sessions.say({ sessionId, text: `${first}call ${tool} ${JSON.stringify(args)}` });
      if (one.case === "delta") progress.push(one.value.text);
      if (one.case !== "event") continue;
      const { body } = one.value;
      if (body.case === "toolCallStarted") started = true;
      if (body.case === "toolCallEnded") ended = { status: body.value.status, output: body.value.output, progress };
      if (body.case === "turnEnded") break;
    }
    signal?.removeEventListener("abort", interrupt);
    if (!started || ended === undefined)
      throw new Error(`the journal does not tell of a whole call of ${tool}: ${JSON.stringify(ended)}`);
    return ended;
  };

  const places: HostileHouse["places"] = {
    ...servers.places,
    ...{
      person,
      sshKey,
      awsKey,
      config: configFile,
      token: tokenFile,
      workspaceFile,
      plugins,
      artifacts,
      runtime,
      hooks,
    },
    ...{ gateway: socket, decoyPid: decoy.pid ?? 0, daemonPid: daemon.pid ?? 0 },
    // Taken apart, so that the secret is in no message to a plugin, which would find it in its own memory.
    ...{ secretInEnvironment: `${SECRET.slice(0, -1)}?`, lastLetter: SECRET.slice(-1) },
  };

  const act: HostileHouse["act"] = async (plugin, code, first = "") =>
    (await call(`plugin_${plugin}_act`, { code: code.replace(/^\n/, ""), places }, { first })).output;

  const house: HostileHouse = {
    ...{ person, home, workspace, env, places, claw, call, act, author, install },
    daemonPid: () => daemon.pid ?? 0,
    daemonMib: () => rssMib(daemon.pid ?? 0),
    hits: servers.hits,
    async outside(code) {
      const input = JSON.stringify({ code: code.replace(/^\n/, ""), places });
      const settings = { env: { ...env, PYTHONDONTWRITEBYTECODE: "1" }, cwd: PROGRAMS };
      return (await run(PYTHON, [join(PROGRAMS, "outside.py")], settings, input)).stdout.trim();
    },
    records: () =>
      readFileSync(join(sessions, "plugins.jsonl"), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as JsonObject),
    async stillServes() {
      const { pid } = await clients.daemon.status({}, { timeoutMs: ANSWER_LIMIT_MS }).catch((cause: unknown) => {
        const state = daemon.exitCode ?? daemon.signalCode ?? "alive";
        throw new Error(`the daemon (${state}) does not answer; its last words: ${lastWords}`, { cause });
      });
      expect(pid).toBe(daemon.pid);
      const greeted = await call("plugin_hello_greet", { name: "Ada" });
      expect(greeted.output).toBe("Hello, Ada! This greeting comes from a process of its own.");
    },
    async killDaemon() {
      daemon.kill("SIGKILL");
      if (daemon.exitCode === null && daemon.signalCode === null) await once(daemon, "exit");
    },
    async restart() {
      daemon = await startDaemon(env);
      hear();
      clients = dial(home);
      places.daemonPid = daemon.pid ?? 0;
    },
    async close() {
      decoy.kill("SIGKILL");
      servers.close();
      daemon.kill("SIGTERM");
      if (daemon.exitCode === null && daemon.signalCode === null) await once(daemon, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  expect(await claw("plugin", "install", HELLO, "--yes")).toMatchObject({ code: 0 });
  const granted = ["write=./data", `net=127.0.0.1:${servers.places.grantedPort}`, "tool=read"];
  const files = attackerFiles();
  const limits = { memoryMib: 256, processes: 64, diskMib: 64 };
  expect(await install("attacker", attackerManifest("attacker", granted, limits), files)).toMatchObject({ code: 0 });
  expect(await install("victim", attackerManifest("victim", ["write=./data"]), files)).toMatchObject({ code: 0 });
  const glutton = attackerManifest("glutton", ["write=./data"], { memoryMib: 256, processes: 64, diskMib: 16 });
  expect(await install("glutton", glutton, files)).toMatchObject({ code: 0 });
  const prowler = { "main.mjs": readFileSync(join(PROGRAMS, "prowler.mjs"), "utf8") };
  expect(await install("prowler", prowlerManifest(servers.places.grantedPort), prowler)).toMatchObject({ code: 0 });
  return house;
}

/** Lets the victim have everything that one would like to take from it, and a call that runs until it is released. */
export async function prepareVictim(house: HostileHouse): Promise<() => Promise<void>> {
  const folder = join(house.home, "plugins/victim");
  const told = await house.act(
    "victim",
    `
    open("data/secret", "w").write("the victim's secret")
    host.call("SetValue", {"key": "victims-key", "value": 1})
    artifact = host.call("WriteArtifact", {"data": "AAAA", "mimeType": "text/plain"})["artifactId"]
    return json.dumps([host.path, host.token, artifact])`,
  );
  const [hostSocket, token, artifact] = JSON.parse(told.replace("ESCAPED: ", "")) as [string, string, string];
  const oldCall = await house.act("attacker", "return call.id", "list then ");
  const running = house
    .act(
      "victim",
      `
    open("data/call", "w").write(call.id)
    while not os.path.exists("data/release"): call.sleep(0.02)
    return "released"`,
      "list then list then ",
    )
    // A test that kills the daemon before ends the call as well.
    .catch(String);
  await eventually(() => existsSync(join(folder, "data/call")), Boolean, "a call that runs");
  Object.assign(house.places, {
    victimProgram: join(folder, "main.py"),
    victimData: join(folder, "data/secret"),
    victimHostSocket: hostSocket,
    victimSocket: join(dirname(hostSocket), "p.sock"),
    victimToken: token,
    victimArtifact: artifact,
    victimCall: readFileSync(join(folder, "data/call"), "utf8"),
    victimPid: findProcess("main.py victim"),
    oldCall: oldCall.replace("ESCAPED: ", ""),
    ownFolder: join(house.home, "plugins/attacker"),
    prowlerFolder: join(house.home, "plugins/prowler"),
    grant: join(house.home, "grants/attacker.json"),
    journal: join(house.home, "sessions", "plugins.jsonl"),
    daemonGroup: groupOf(house.daemonPid()),
  });
  return async () => {
    writeFileSync(join(folder, "data/release"), "");
    expect(await running).toContain("released");
  };
}

function groupOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
}

function rssMib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) / 1024;
}
