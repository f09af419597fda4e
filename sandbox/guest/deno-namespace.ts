/** The `Deno` namespace, for hooks and scripts alike. Runs inside the isolate. */

import { AbortController } from "./abort.ts";
import { base64OfBytes, bytesOfBase64 } from "./base64.ts";
import type { Calling } from "./broker-call.ts";
import { type Asker, needs } from "./deno-denial.ts";
import { denoEnv } from "./deno-env.ts";
import { denoError, denoErrors, notOffered } from "./deno-errors.ts";
import { denoFiles, fileInfo, timeMs } from "./deno-files.ts";
import type { DenoLibrary, DenoParts } from "./deno-library.ts";
import { pathText } from "./deno-path.ts";
import { denoPermissions, PermissionStatus } from "./deno-permissions.ts";
import { denoSignals, type Signals } from "./deno-signals.ts";
import { BUILD, denoSystem, VERSION } from "./deno-system.ts";
import type { EnvView } from "./env-view.ts";
import type { SysView, ToGuest } from "./guest-protocol.ts";
import { TextDecoder, TextEncoder } from "./guest-text.ts";
import { eachOf } from "./own-list.ts";

export type LoadOrder = Extract<ToGuest, { k: "load" }>;

/** What of the prelude the namespace is made over. */
export type DenoTools = {
  readonly inspect: (value: unknown, options?: unknown) => string;
  /** Puts bytes on a stream as they are. */
  readonly write: (to: "stdout" | "stderr", bytes: Uint8Array) => void;
  /** Makes the part of the namespace that is a library of its own. */
  readonly library: (parts: DenoParts) => DenoLibrary;
  /** Ends the guest with an exit code of 0 to 255; it runs no further. */
  readonly exit: (code: number) => never;
  /** Says which code the guest ends with when it ends by itself. */
  readonly setExitCode: (code: number) => void;
};

/** Functions that Deno has and that are not offered here, with what there is in their place. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  chdir: "give whole paths",
  chown: "",
  connect: "use fetch()",
  connectTls: "use fetch()",
  consoleSize: "",
  createHttpClient: "use fetch()",
  dlopen: "",
  execPath: "",
  kill: "",
  link: "a second name would hide what a file is",
  listen: "",
  listenTls: "",
  memoryUsage: "",
  networkInterfaces: "",
  resolveDns: "",
  serve: "",
  symlink: "a link would lead to what is not granted",
  umask: "",
  upgradeWebSocket: "",
};
/** Like `LEFT_OUT`, and so are their synchronous twins. */
const NO_SYNC_EITHER = ["chown", "link", "symlink"];
/** What is in a library of its own, and is there at the first look at it. */
const IN_LIBRARY = ["ChildProcess", "Command", "FsFile", "stderr", "stdin", "stdout"] as const;
const FUNCTIONS_IN_LIBRARY = ["create", "createSync", "open", "openSync", "watchFs"] as const;
/** The same, beside the namespace. */
const GLOBALS_IN_LIBRARY = ["alert", "confirm", "prompt"] as const;

const { defineProperty, keys } = Object;
const { apply } = Reflect;
const { slice } = Array.prototype;

function leftOut(): Record<string, () => never> {
  const functions: Record<string, () => never> = {};
  const leave = (name: string, instead: string) => {
    functions[name] = () => {
      throw notOffered(`Deno.${name}`, instead);
    };
  };
  eachOf(keys(LEFT_OUT), (name) => leave(name, LEFT_OUT[name] ?? ""));
  eachOf(NO_SYNC_EITHER, (name) => leave(`${name}Sync`, LEFT_OUT[name] ?? ""));
  return functions;
}

function readExitCode(code: unknown): number {
  if (typeof code !== "number") throw new TypeError(`Exit code must be a number, got: ${code} (${typeof code})`);
  if (code % 1 !== 0) throw new RangeError(`Exit code must be an integer, got: ${code}`);
  return code;
}

/** What a guest's `Deno` is, beside the object. */
export type Installed = { readonly signals: Signals; readonly library: () => DenoLibrary };

const NO_TERMINALS = { stdin: false, stdout: false, stderr: false };

/** Made when it is first needed. */
function lazyLibrary(order: LoadOrder, { call, callNow }: Calling, tools: DenoTools): () => DenoLibrary {
  let library: DenoLibrary | undefined;
  return () => {
    library ??= tools.library({
      ...{ call, callNow, terminals: order.terminals ?? NO_TERMINALS, write: tools.write },
      ...{ denoError, notOffered, pathText, fileInfo, timeMs, base64OfBytes, bytesOfBase64 },
      ...{ AbortController, TextDecoder, TextEncoder },
    });
    return library;
  };
}

/** Offers functions of the library, which is loaded when the first of them is called. */
function offerFunctions(
  on: object,
  names: readonly ((typeof FUNCTIONS_IN_LIBRARY)[number] | (typeof GLOBALS_IN_LIBRARY)[number])[],
  library: () => DenoLibrary,
  enumerable: boolean,
): void {
  eachOf(names, (name) => {
    const take = (...args: unknown[]): unknown =>
      apply(library()[name] as (...args: unknown[]) => unknown, undefined, args);
    defineProperty(take, "name", { value: name });
    defineProperty(on, name, { value: take, writable: true, enumerable, configurable: true });
  });
}

/** Puts what is in the library into the namespace. */
function offerLibrary(namespace: object, library: () => DenoLibrary): void {
  offerFunctions(namespace, FUNCTIONS_IN_LIBRARY, library, true);
  eachOf(IN_LIBRARY, (name) =>
    defineProperty(namespace, name, { get: () => library()[name], enumerable: true, configurable: true }),
  );
}

/** Makes the namespace for one guest. */
function denoNamespace(order: LoadOrder, broker: Calling, tools: DenoTools, installed: Installed): object {
  const asker: Asker = order.mode;
  let env: EnvView = order.env;
  let sys: SysView = order.sys;
  let exitCode = 0;
  const { Permissions, permissions } = denoPermissions(broker, (answer) => {
    env = answer.env;
    sys = answer.sys;
  });
  const args = apply(slice, order.args, []) as string[];
  const namespace = {
    ...leftOut(),
    ...denoFiles(broker),
    ...denoSystem(() => sys, asker),
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
    SeekMode: { 0: "Start", 1: "Current", 2: "End", Start: 0, Current: 1, End: 2 },
    ...installed.signals.surface,
    exit: (code?: unknown): never => {
      const exiting = order.tests && installed.library().tests.exiting();
      const wanted = typeof code === "number" ? code : exitCode;
      return exiting ? exiting(wanted) : tools.exit(wanted & 255);
    },
    inspect: tools.inspect,
    mainModule: `file:///${order.name}`,
    noColor: true,
    permissions,
    // Of the processes of the machine a guest sees none.
    pid: 1,
    ppid: 0,
    version: { ...VERSION },
  };
  offerLibrary(namespace, installed.library);
  defineProperty(namespace, "test", {
    get: () => installed.library().tests.test,
    enumerable: true,
    configurable: true,
  });
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

/** Puts `Deno` into the guest's global scope. It is made at the first look at it: most hooks never look. */
export function installDeno(order: LoadOrder, broker: Calling, tools: DenoTools): Installed {
  const installed = { signals: denoSignals(order.mode, broker.call), library: lazyLibrary(order, broker, tools) };
  const settle = (value: unknown) =>
    defineProperty(globalThis, "Deno", { value, writable: true, enumerable: false, configurable: true });
  const get = () => {
    const made = denoNamespace(order, broker, tools, installed);
    settle(made);
    return made;
  };
  defineProperty(globalThis, "Deno", { get, set: settle, enumerable: false, configurable: true });
  offerFunctions(globalThis, GLOBALS_IN_LIBRARY, installed.library, false);
  return installed;
}
