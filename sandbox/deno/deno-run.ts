import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { BrokerContext } from "../broker/capabilities.ts";
import { isUnconfined } from "../broker/command-walls.ts";
import { type Environment, viewEnvironment } from "../broker/environment.ts";
import { fileRules } from "../broker/file-rules.ts";
import type { GroundedGrant } from "../broker/ground-grant.ts";
import type { GuestInput } from "../broker/guest-input.ts";
import type { Confinement, Launcher, LaunchSpec, LeasedProcess } from "../os/launcher.ts";
import { printFlag } from "../permission/permission-flag.ts";
import { type BrokerDoor, openBrokerDoor } from "./broker-door.ts";
import { readableImportMap } from "./deno-import-map.ts";
import { type DenoImports, denoImports } from "./deno-imports.ts";
import { type DenoJudge, openDenoJudge } from "./deno-judge.ts";
import { findDeno } from "./deno-program.ts";
import { askableFolder, confineDeno } from "./deno-walls.ts";
import { type DenoRun, watchDeno } from "./deno-watch.ts";
import { workingFolder } from "./process-folder.ts";
import { startRunClock } from "./run-clock.ts";

/** What a Deno needs beside the heap of its program, MiB. */
const OWN_MEMORY_MIB = 512;
const LIMITS = { processes: 256, fileMib: 1024, openFiles: 1024, nice: 10 };
/** Address space for data: V8 reserves more than it uses. */
const DATA_MIB = 4096;
/** From the question to the judge's word; a person has a minute of it. */
const ANSWER_LIMIT_MS = 90_000;
/** Variables that make a program load code, or Deno listen to somebody else. */
const NEVER_HANDED_ON = /^(?:LD_|DYLD_|DENO_)|^NODE_OPTIONS$/i;
const BASIC_ENVIRONMENT = { HOME: "/tmp", TMPDIR: "/tmp", LANG: "C.UTF-8", TERM: "dumb" };

export type DenoOptions = {
  readonly launcher: Launcher;
  /** A name to look for in `searchPath`, or an absolute path. */
  readonly program: string;
  /** For the brokers' sockets; see `BrokerDoorOptions`. */
  readonly socketsDir: string;
  readonly env: Environment;
  /** Folders with programs, as in PATH. */
  readonly searchPath: string;
  readonly hidden: readonly string[];
  readonly protectedWrite: (path: string) => string | undefined;
  /** A clock in milliseconds. */
  readonly now: () => number;
};

export type DenoOrder = {
  /** Absolute paths. */
  readonly file: string;
  readonly folder: string;
  readonly args: readonly string[];
  readonly grant: GroundedGrant;
  readonly attended: boolean;
  /** Wall time; questions to a person do not count. */
  readonly timeLimitMs: number;
  /** Heap. */
  readonly memoryMib: number;
  /** Absolute path of an import map; empty for that of a deno.json beside the program. */
  readonly importMap: string;
  /** Its standard input, which is read as fast as it takes it; undefined for an empty one. */
  readonly input: Pick<GuestInput, "read"> | undefined;
  readonly context: BrokerContext;
  readonly print: (to: "stdout" | "stderr", text: string) => void;
};

/**
 * Starts a program in the person's own Deno, behind the OS sandbox, with the daemon as the broker of its permissions.
 * Fails with what is missing for that.
 */
export async function startDeno(order: DenoOrder, options: DenoOptions): Promise<Result<DenoRun>> {
  const { launcher, searchPath } = options;
  if (launcher.level === "none" && !isUnconfined(order.grant)) {
    const message = `Deno runs under a grant only behind an OS sandbox, and there is none: ${launcher.detail}`;
    return fail("unavailable", message, { hint: "claw doctor says how to get one; --runtime=isolate needs none" });
  }
  const program = await findDeno(launcher, options.program, searchPath);
  if (!program.ok) return program;
  const source = await readSource(order.file);
  if (!source.ok) return source;
  const folder = await realpath(order.folder);
  const found = { ...order, ...source.value, folder };
  const importMap = await findImportMap(found, options);
  if (!importMap.ok) return importMap;
  return launchWithBroker({ ...found, importMap: importMap.value }, options, program.value);
}

/** Its map is the program's own code, as what it maps is: it lies there, and nothing denies it. */
async function findImportMap(order: DenoOrder, options: DenoOptions): Promise<Result<string>> {
  if (order.importMap === "") return ok("");
  const rules = fileRules(options.hidden, options.protectedWrite);
  const place = { file: order.file, folder: order.folder, env: options.env, rules };
  return readableImportMap(order.importMap, order.grant, place);
}

type Source = { readonly file: string; readonly sourceHash: string };

async function readSource(named: string): Promise<Result<Source>> {
  try {
    const file = await realpath(named);
    return ok({
      file,
      sourceHash: createHash("sha256")
        .update(await readFile(file))
        .digest("hex"),
    });
  } catch (cause) {
    return fail("not_found", `${named} cannot be read`, { cause });
  }
}

async function launchWithBroker(
  order: DenoOrder & Source,
  options: DenoOptions,
  program: string,
): Promise<Result<DenoRun>> {
  const clock = startRunClock(order.timeLimitMs, options.now, () => child?.kill());
  const imports = denoImports(order.grant, options.env);
  const rules = fileRules(options.hidden, options.protectedWrite);
  const place = { file: order.file, folder: order.folder, env: options.env, rules };
  let child: LeasedProcess | undefined;
  const judge = openDenoJudge({
    ...options,
    ...{ principal: `script:${order.file}`, sourceHash: order.sourceHash, grant: order.grant, mayAsk: order.attended },
    context: { ...order.context, ask: (question) => clock.hold(order.context.ask(question)) },
    askableFolder: order.attended ? askableFolder(place) : undefined,
    folderOf: (pid) => (child ? workingFolder(child.pid, pid, order.folder) : undefined),
    importsFromCache: imports.from === "cache",
  });
  let door: BrokerDoor | undefined;
  try {
    const { judge: answer } = judge;
    door = await openBrokerDoor({ socketsDir: options.socketsDir, judge: answer, answerLimitMs: ANSWER_LIMIT_MS });
    const walls = await confineDeno({
      ...place,
      ...{ grant: order.grant, liveGrant: liveView(judge), attended: order.attended },
      needed: [door.socket, ...imports.read],
      onDenied: ({ host, port, message }) => judge.onDenied({ kind: "net", host, port }, message),
    });
    sayUnseen(order);
    child = options.launcher.launch(planDeno(order, options, { program, walls, socket: door.socket, imports }));
  } catch (cause) {
    clock.stop();
    await door?.close();
    const why = cause instanceof Error ? cause.message : String(cause);
    return fail("unavailable", `Deno cannot be started: ${why}`, { cause });
  }
  const { print, timeLimitMs, input } = order;
  return ok(watchDeno(child, { print, timeLimitMs, judge, door, clock, input }));
}

/** A grant that is asked anew each time. */
function liveView(judge: DenoJudge): DenoJudge["grant"] {
  return {
    get allow() {
      return judge.grant.allow;
    },
    get deny() {
      return judge.grant.deny;
    },
  };
}

/** What is not there cannot be shown, and Deno would only say that it is not found. */
function sayUnseen({ grant, print }: DenoOrder): void {
  for (const rule of grant.allow) {
    if (rule.kind !== "write" || rule.path === undefined || existsSync(rule.path)) continue;
    print(
      "stderr",
      `warning: ${printFlag(rule)} names nothing that is there, so Deno will not find it: make it first\n`,
    );
  }
}

type Launching = {
  readonly program: string;
  readonly walls: Confinement;
  readonly socket: string;
  readonly imports: DenoImports;
};

function planDeno(order: DenoOrder, options: DenoOptions, { program, walls, socket, imports }: Launching): LaunchSpec {
  const granted = Object.entries(viewEnvironment(order.grant, options.env).values);
  const flags = ["run", "--quiet", "--no-prompt", "--no-lock", `--v8-flags=--max-old-space-size=${order.memoryMib}`];
  if (imports.from === "cache") flags.push("--cached-only");
  if (order.importMap !== "") flags.push(`--import-map=${order.importMap}`);
  return {
    command: [program, ...flags, order.file, ...order.args],
    cwd: order.folder,
    env: {
      ...BASIC_ENVIRONMENT,
      PATH: options.searchPath,
      ...Object.fromEntries(granted.filter(([name]) => !NEVER_HANDED_ON.test(name))),
      DENO_PERMISSION_BROKER_PATH: socket,
      DENO_DIR: imports.dir,
      DENO_NO_UPDATE_CHECK: "1",
      NO_COLOR: "1",
    },
    confinement: walls,
    // Without a sandbox the kernel would count all processes of the user.
    limits:
      options.launcher.level === "none"
        ? {}
        : { ...LIMITS, dataMib: DATA_MIB, memoryMib: order.memoryMib + OWN_MEMORY_MIB },
    pipes: 0,
  };
}
