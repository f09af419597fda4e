import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { machineFacts, ownAddresses } from "../../core/daemon/machine-facts.ts";
import { ok } from "../../core/domain/failure.ts";
import { mergeHooks } from "../../core/domain/hook-chain.ts";
import { openJournal } from "../../core/journal/jsonl-journal.ts";
import { protectedPath } from "../../core/tools/protected-path.ts";
import { openEgress } from "../../sandbox/egress/egress.ts";
import { copyHostFiles } from "../../sandbox/fixtures/host-files.ts";
import type { RoomHooks } from "../../sandbox/fixtures/sandbox-room.ts";
import { openScriptHooks } from "../../sandbox/hook/script-hooks.ts";
import type { Engine } from "../../sandbox/isolate/engine.ts";
import type { HostFiles } from "../../sandbox/isolate/host-launch.ts";
import { ISOLATE_LIMITS, type IsolateLimits } from "../../sandbox/isolate/limits.ts";
import { openEngine } from "../../sandbox/isolate/open-engine.ts";
import type { Launcher } from "../../sandbox/os/launcher.ts";
import { probeLauncher } from "../../sandbox/os/probe.ts";
import { childrenOf } from "../../sandbox/os/process-tree.ts";
import { type Canary, mintCanaries } from "./canaries.ts";
import type { Area, EscapeCase, Places, Rig } from "./escape-case.ts";
import { hostileHost, hostilePrelude } from "./rigs.ts";

/** The hooks of one rig: as in the daemon, but for what the rig takes to be hostile. */
export type RigRoom = {
  readonly hooks: RoomHooks;
  readonly hooksDir: string;
  /** What hooks printed, and what was said about them. */
  readonly printed: string[];
};

/** A machine in small: canaries, servers, and hooks that are to be kept from them. */
export type EscapeHouse = {
  readonly folder: string;
  readonly launcher: Launcher;
  readonly canaries: Readonly<Record<Canary, string>>;
  /** Requests that the servers got since the last `forgetHits`. */
  hits(): readonly string[];
  forgetHits(): void;
  /** What hooks may change, beside their own folders. */
  readonly changing: readonly string[];
  /** The places of one case; its folder is made. */
  placesOf(id: string): Places;
  rig(rig: Rig): RigRoom;
  /** Heads of the process trees that were launched and may still live, and whatever else this process has started. */
  pids(): readonly number[];
  /** Kills everything, and removes the folder. Gives the heads that live on nevertheless. */
  close(): Promise<readonly number[]>;
};

export type HouseOptions = {
  readonly wanted: "auto" | "none";
  readonly cases: Partial<Readonly<Record<Area, readonly EscapeCase[]>>>;
  /** Another engine in the place of ours: how the watchers are proven. */
  readonly engine?: Engine;
};

/** As in the daemon; but how long a process may say that its guests wait for their turn is not to outlast an attempt. */
const LIMITS: IsolateLimits = { ...ISOLATE_LIMITS, queueMs: 3000 };
/** Programs are looked for where every machine has them. */
const SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin";

/** Names that the machine's own look-up would not know, and where they lead. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "loop.example.com": ["127.0.0.1"],
  "mapped.example.com": ["::ffff:127.0.0.1"],
  "translated.example.com": ["64:ff9b::7f00:1"],
  "tunnelled.example.com": ["2002:7f00:1::"],
  "many.example.com": ["10.0.0.1", "169.254.169.254", "::1", "127.0.0.1"],
  "metadata.example.com": ["169.254.169.254"],
  "words.example.com": ["127.1", "0x7f000001", "localhost", "127.0.0.1%lo"],
  localhost: ["127.0.0.1"],
  "sub.localhost": ["127.0.0.1"],
};

export function idOf(area: Area, index: number): string {
  return `${area}-${index}`;
}

/** Fills in the places. */
export function withPlaces(text: string, places: Places): string {
  return text.replace(/\{\{([A-Z_]+)\}\}/g, (whole, name: string) =>
    Object.hasOwn(places, name) ? places[name as keyof Places] : whole,
  );
}

const TELL = `const tell = async (work) => {
  try {
    const got = await work();
    if (got instanceof Uint8Array) return new TextDecoder().decode(got);
    return typeof got === "string" ? got : JSON.stringify(got) ?? String(got);
  } catch (error) {
    return typeof error === "object" && error !== null ? error.name + ": " + error.message + "\\n" + error.stack : "threw " + String(error);
  }
};`;

/** The file of a hook that makes an attempt. */
export function sourceOf(tried: EscapeCase, at: string): string {
  const { grant, deny, header = "", tries, body, module } = tried;
  // What starts a program waits for it, on a busy machine too.
  const timeout = grant?.includes("run") ? "timeout=8s" : "timeout=2s";
  const words = [
    `@hook at=${at} on-error=deny ${/timeout=/.test(header) ? "" : timeout} ${header}`,
    ...(grant === undefined ? [] : [`@allow ${grant}`]),
    ...(deny === undefined ? [] : [`@deny ${deny}`]),
  ];
  const head = `/** ${words.join("\n * ")} */\n`;
  if (module !== undefined) return head + module;
  if (body !== undefined) return `${head}${TELL}\nexport default async (event, clawd) => {\n${body}\n};\n`;
  const each = (tries ?? []).map((expression) => `await tell(async () => (${expression}))`);
  return `${head}${TELL}\nexport default async (event, clawd) => ({ answer: [\n${each.join(",\n")}\n] });\n`;
}

const INNOCENT = `export default (event) => {
  const realm = [Object.prototype, Array.prototype, Function.prototype, Promise.prototype];
  // Bare Node, in the place of an isolate, has names of its own.
  const strange = [...realm, ...(typeof process === "undefined" ? [globalThis] : [])].flatMap((each) => Object.keys(each));
  return { answer: { alive: event.value.count, strange } };
};`;
const KEEPER = `let heard = [];
export default async (event, clawd) => {
  heard.push(event.value.text);
  await clawd.store.set("secret", event.value.secret);
  return { answer: heard.length };
};`;

export async function openEscapeHouse({ wanted, cases, engine: other }: HouseOptions): Promise<EscapeHouse> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "clawd-escape-")));
  const at = (...path: string[]) => join(folder, ...path);
  const canaries = mintCanaries();
  process.env.CLAWD_ESCAPE_CANARY = canaries.env;
  for (const name of ["open", "outside", "home/sessions", "files"]) mkdirSync(at(name), { recursive: true });
  writeFileSync(at("outside/secret.txt"), canaries.file);
  writeFileSync(at("outside/secret.js"), `export default "${canaries.file}";\n`);
  writeFileSync(at("outside/secret.json"), JSON.stringify({ compilerOptions: { jsx: canaries.file } }));
  writeFileSync(at("home/token.txt"), canaries.file);
  // What is loaded on first need takes its time then, which is no attempt's doing.
  await import("undici");
  const files = await copyHostFiles(at("files"));
  const servers = await startServers(canaries.net);
  const egress = openEgress({
    ownAddresses,
    resolve: async (host) => NAMES[host] ?? Promise.reject(new Error(`no address for ${host}`)),
  });
  const forwarderFile = at("files/egress-forwarder.cjs");
  await build({
    ...{ entryPoints: [join(import.meta.dirname, "../../sandbox/egress/forwarder.ts")], outfile: forwarderFile },
    ...{ bundle: true, format: "cjs", platform: "node", target: "node24", logLevel: "error" },
  });
  const pids: number[] = [];
  const launcher = recording(
    await probeLauncher({
      ...{ searchPath: process.env.PATH ?? "", wanted, nodeBinary: process.execPath },
      door: { egress, forwarderFile, socketsDir: at("files/egress") },
    }),
    pids,
  );
  const closing: (() => Promise<unknown>)[] = [];
  const rigs = new Map<Rig, RigRoom>();

  async function openRig(rig: Rig): Promise<RigRoom> {
    const hooksDir = at(`hooks-${rig}`);
    const opened = await openJournal({ dir: at("home/sessions", rig), now: () => 1 });
    if (!opened.ok) throw new Error(opened.failure.message);
    const journal = opened.value;
    const printed: string[] = [];
    const now = () => performance.now();
    const engine =
      other ?? openEngine({ launcher, files: await filesFor(rig, files, at("files")), limits: LIMITS, now });
    const own = [at("home"), hooksDir];
    const hooks = openScriptHooks({
      ...{ engine, hooksDir, journal, typesFile: join(import.meta.dirname, "../../sandbox/guest/types/hooks.d.ts") },
      broker: {
        ...{ launcher, egress, now, searchPath: SEARCH_PATH, hidden: own, sysFacts: machineFacts },
        env: { PLAIN: "plain", CANARY_VALUE: canaries.env, CANARY_API_KEY: canaries.env, PATH: SEARCH_PATH },
        protectedWrite: (path) => protectedPath(path, "/", own),
        memory: {
          search: async () => ok([{ id: "m1", path: "notes", line: 1, text: canaries.memory }]),
          remember: async () => ok("m2"),
        },
      },
      breaker: { killsAllowed: 3, killWindowMs: 600_000 },
      commandsWithoutSandbox: false,
      log: (hook, line) => printed.push(`${hook}: ${line}`),
    });
    closing.push(async () => {
      await Promise.all([hooks.close(), engine.close()]);
      await journal.close();
    });
    return { hooks: { ...hooks, hooks: mergeHooks([hooks.source]) }, hooksDir, printed };
  }

  const places = new Map<string, Places>();
  function placesOf(id: string): Places {
    const known = places.get(id);
    if (known) return known;
    const HERE = at("open", id);
    mkdirSync(HERE, { recursive: true });
    writeFileSync(join(HERE, "notes.txt"), "harmless\n");
    const made: Places = {
      HERE,
      OUTSIDE: at("outside"),
      SECRET: at("outside/secret.txt"),
      HOME: at("home"),
      TOKEN: at("home/token.txt"),
      HOOKS: at("hooks-guest"),
      PORT: String(servers.port),
      SECRET_PORT: String(servers.secretPort),
    };
    places.set(id, made);
    return made;
  }

  function writeHooks(rig: Rig): void {
    const write = (path: string, text: string) => writeFileSync(at(`hooks-${rig}`, path), text);
    mkdirSync(at(`hooks-${rig}/keeper`), { recursive: true });
    write("keeper/keeper.ts", `/** @hook at=custom.keep */\n${KEEPER}`);
    for (const [area, list] of Object.entries(cases) as [Area, readonly EscapeCase[]][]) {
      const mine = list.flatMap((one, index) => ((one.rig ?? "guest") === rig ? [{ one, id: idOf(area, index) }] : []));
      if (mine.length === 0) continue;
      mkdirSync(at(`hooks-${rig}`, area), { recursive: true });
      write(`${area}/innocent.ts`, `/** @hook at=custom.innocent-${area} on-error=deny */\n${INNOCENT}`);
      for (const { one, id } of mine) {
        // A case with files of its own is a package of its own.
        const folderOf = one.files ? id : area;
        mkdirSync(at(`hooks-${rig}`, folderOf), { recursive: true });
        write(`${folderOf}/${id}.ts`, withPlaces(sourceOf(one, `custom.${id}`), placesOf(id)));
        for (const [name, text] of Object.entries(one.files ?? {}))
          write(`${folderOf}/${name}`, withPlaces(text, placesOf(id)));
      }
    }
  }

  for (const rig of ["guest", "prelude", "host"] as const) {
    writeHooks(rig);
    rigs.set(rig, await openRig(rig));
  }

  return {
    ...{ folder, launcher, canaries, placesOf },
    hits: () => servers.hits,
    forgetHits: () => void servers.hits.splice(0),
    changing: [at("open"), at("home/sessions"), at("files/egress")],
    rig: (rig) => rigs.get(rig) as RigRoom,
    pids: () => [...new Set([...pids, ...childrenOf(process.pid)])],
    async close() {
      await Promise.all(closing.map((close) => close()));
      egress.close();
      servers.close();
      delete process.env.CLAWD_ESCAPE_CANARY;
      rmSync(folder, { recursive: true });
      return [...pids];
    },
  };
}

/** Notes who was launched; the dead are struck off. */
function recording(launcher: Launcher, pids: number[]): Launcher {
  return {
    level: launcher.level,
    detail: launcher.detail,
    landlock: launcher.landlock,
    launch(spec) {
      const child = launcher.launch(spec);
      pids.push(child.pid);
      void child.exited.then(() => pids.splice(pids.indexOf(child.pid), 1));
      return child;
    },
  };
}

async function filesFor(rig: Rig, files: HostFiles, folder: string): Promise<HostFiles> {
  switch (rig) {
    case "guest":
      return files;
    case "prelude":
      return { ...files, preludeFile: hostilePrelude(files.preludeFile, join(folder, "hostile-prelude.js")) };
    case "host":
      return { ...files, hostFile: hostileHost(join(folder, "hostile-host.mjs")) };
  }
}

async function startServers(secret: string) {
  const hits: string[] = [];
  const open = createServer((request, response) => {
    hits.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  const hidden = createServer((request, response) => {
    hits.push(`secret server: ${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    response.end(secret);
  });
  for (const [server, host] of [
    [open, "127.0.0.1"],
    [hidden, "0.0.0.0"],
  ] as const) {
    server.on("clientError", (_error, socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
  }
  return {
    hits,
    port: (open.address() as AddressInfo).port,
    secretPort: (hidden.address() as AddressInfo).port,
    close() {
      for (const server of [open, hidden]) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const [path, target] = (request.url ?? "/").split("?to=");
  if (target !== undefined) response.writeHead(302, { location: decodeURIComponent(target) }).end();
  else if (path === "/headers") response.end(JSON.stringify([request.method, ...request.rawHeaders]));
  else response.end("plain");
}
