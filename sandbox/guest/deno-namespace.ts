/** The `Deno` namespace, for hooks and scripts alike. Runs inside the isolate. */

import type { Call } from "./broker-call.ts";
import { denoCommand } from "./deno-command.ts";
import { type Asker, needs } from "./deno-denial.ts";
import { denoEnv } from "./deno-env.ts";
import { denoErrors, notOffered } from "./deno-errors.ts";
import { denoFiles } from "./deno-files.ts";
import { denoPermissions, PermissionStatus } from "./deno-permissions.ts";
import { BUILD, denoSystem, VERSION } from "./deno-system.ts";
import type { EnvView } from "./env-view.ts";
import type { SysView, ToGuest } from "./guest-protocol.ts";

export type LoadOrder = Extract<ToGuest, { k: "load" }>;

/** What of the prelude the namespace is made over. */
export type DenoTools = {
  readonly inspect: (value: unknown, options?: unknown) => string;
  /** Puts text on a stream as it is, without a line end of its own. */
  readonly print: (to: "stdout" | "stderr", text: string) => void;
  /** Ends the guest with an exit code of 0 to 255; it runs no further. */
  readonly exit: (code: number) => never;
  /** Says which code the guest ends with when it ends by itself. */
  readonly setExitCode: (code: number) => void;
};

/** Functions that Deno has and that are not offered here, with what there is in their place. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  addSignalListener: "",
  chdir: "give whole paths",
  chmod: "give a mode when the file is written",
  chown: "",
  connect: "use fetch()",
  connectTls: "use fetch()",
  consoleSize: "",
  copyFile: "use Deno.readFile() and Deno.writeFile()",
  create: "use Deno.writeFile()",
  createHttpClient: "use fetch()",
  dlopen: "",
  execPath: "",
  kill: "",
  link: "",
  listen: "",
  listenTls: "",
  makeTempDir: "use Deno.mkdir()",
  makeTempFile: "use Deno.writeFile()",
  memoryUsage: "",
  networkInterfaces: "",
  open: "use Deno.readFile() and Deno.writeFile()",
  readLink: "",
  realPath: "",
  resolveDns: "",
  serve: "",
  symlink: "",
  test: "",
  truncate: "use Deno.writeFile()",
  umask: "",
  upgradeWebSocket: "",
  utime: "",
  watchFs: "",
};
/** Of these there is only the function that gives a promise. */
const NO_SYNC = [
  "readTextFile",
  "readFile",
  "writeTextFile",
  "writeFile",
  "readDir",
  "stat",
  "lstat",
  "mkdir",
  "remove",
  "rename",
];
/** Like `LEFT_OUT`, and so are their synchronous twins. */
const NO_SYNC_EITHER = [
  "chmod",
  "chown",
  "copyFile",
  "create",
  "link",
  "makeTempDir",
  "makeTempFile",
  "open",
  "readLink",
  "realPath",
  "symlink",
  "truncate",
  "utime",
];

const { defineProperty, keys } = Object;

function leftOut(): Record<string, () => never> {
  const functions: Record<string, () => never> = {};
  const leave = (name: string, instead: string) => {
    functions[name] = () => {
      throw notOffered(`Deno.${name}`, instead);
    };
  };
  for (const name of keys(LEFT_OUT)) leave(name, LEFT_OUT[name] ?? "");
  for (const name of NO_SYNC_EITHER) leave(`${name}Sync`, LEFT_OUT[name] ?? "");
  for (const name of NO_SYNC) leave(`${name}Sync`, `use await Deno.${name}()`);
  return functions;
}

function readExitCode(code: unknown): number {
  if (typeof code !== "number") throw new TypeError(`Exit code must be a number, got: ${code} (${typeof code})`);
  if (code % 1 !== 0) throw new RangeError(`Exit code must be an integer, got: ${code}`);
  return code;
}

/** Makes the namespace for one guest. */
function denoNamespace(order: LoadOrder, call: Call, tools: DenoTools): object {
  const asker: Asker = order.mode;
  let env: EnvView = order.env;
  let sys: SysView = order.sys;
  let exitCode = 0;
  const { Permissions, permissions } = denoPermissions(call, (answer) => {
    env = answer.env;
    sys = answer.sys;
  });
  const args = [...order.args];
  const namespace = {
    ...leftOut(),
    ...denoFiles(call),
    ...denoSystem(() => sys, asker),
    Command: denoCommand(call, tools.print),
    PermissionStatus,
    Permissions,
    args,
    build: { ...BUILD },
    cwd(): string {
      if (order.cwd === "") throw needs(asker, "read", "<CWD>");
      return order.cwd;
    },
    env: denoEnv(() => env, asker),
    errors: denoErrors(),
    exit: (code?: unknown): never => tools.exit((typeof code === "number" ? code : exitCode) & 255),
    inspect: tools.inspect,
    mainModule: `file:///${order.name}`,
    noColor: true,
    permissions,
    // Of the processes of the machine a guest sees none.
    pid: 1,
    ppid: 0,
    version: { ...VERSION },
  };
  return defineProperty(namespace, "exitCode", {
    get: () => exitCode,
    set(code: unknown) {
      exitCode = readExitCode(code);
      tools.setExitCode(exitCode & 255);
    },
    enumerable: true,
    configurable: true,
  });
}

/** Puts `Deno` into the guest's global scope. */
export function installDeno(order: LoadOrder, call: Call, tools: DenoTools): void {
  defineProperty(globalThis, "Deno", {
    value: denoNamespace(order, call, tools),
    writable: true,
    enumerable: false,
    configurable: true,
  });
}
