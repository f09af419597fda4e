/** `node:process` and `node:os` over the Deno namespace. Part of a library; runs inside the isolate. */

type Callable = (...args: unknown[]) => unknown;
type Namespace = {
  readonly args: readonly string[];
  readonly env: { get(name: string): string | undefined; has(name: string): boolean; toObject(): object } & Record<
    "set" | "delete",
    Callable
  >;
  readonly errors: { readonly NotSupported: new (message: string) => Error };
  readonly mainModule: string;
  readonly pid: number;
  readonly ppid: number;
  exitCode: number;
} & Readonly<
  Record<"addSignalListener" | "removeSignalListener" | "cwd" | "exit" | "hostname" | "osRelease", Callable>
> &
  Readonly<Record<"loadavg" | "osUptime" | "systemMemoryInfo", Callable>> &
  Readonly<Record<"stdout" | "stderr", { isTerminal(): boolean; writeSync(bytes: Uint8Array): number }>> &
  Readonly<Record<"stdin", { isTerminal(): boolean; readonly readable: AsyncIterable<Uint8Array> }>>;

function deno(): Namespace {
  return (globalThis as unknown as { Deno: Namespace }).Deno;
}

function refusal(what: string, instead: string): Error {
  return new (deno().errors.NotSupported)(`${what} is not offered: ${instead}`);
}

/** The variables that the grant opens, read and set as they are in Deno. */
function environment(): object {
  const env = () => deno().env;
  return new Proxy(
    {},
    {
      get: (_target, name) => (typeof name === "string" ? env().get(name) : undefined),
      has: (_target, name) => typeof name === "string" && env().has(name),
      set(_target, name, value) {
        env().set(String(name), String(value));
        return true;
      },
      deleteProperty(_target, name) {
        env().delete(String(name));
        return true;
      },
      ownKeys: () => Reflect.ownKeys(env().toObject()),
      getOwnPropertyDescriptor(_target, name) {
        const value = typeof name === "string" ? env().get(name) : undefined;
        return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
      },
    },
  );
}

function output(name: "stdout" | "stderr") {
  return {
    get isTTY() {
      return deno()[name].isTerminal();
    },
    write(data: unknown, ...more: unknown[]): boolean {
      deno()[name].writeSync(data instanceof Uint8Array ? data : new TextEncoder().encode(String(data)));
      const done = more.at(-1);
      if (typeof done === "function") queueMicrotask(() => done());
      return true;
    },
  };
}

function listening(how: "addSignalListener" | "removeSignalListener"): Callable {
  return (name, listener) => {
    if (!/^SIG[A-Z0-9]+$/.test(String(name)))
      throw refusal(`process.on of "${String(name)}"`, "use addEventListener of error and unhandledrejection");
    return void deno()[how](name, listener);
  };
}

/** What there is of `process`; what is not there throws, or is undefined. */
export function nodeProcess(Buffer: { from(bytes: Uint8Array): Uint8Array }): object {
  return {
    get argv() {
      return ["claw", new URL(deno().mainModule).pathname, ...deno().args];
    },
    argv0: "claw",
    env: environment(),
    exit: (code?: unknown) => deno().exit(code ?? deno().exitCode),
    get exitCode() {
      return deno().exitCode === 0 ? undefined : deno().exitCode;
    },
    set exitCode(code: unknown) {
      deno().exitCode = Number(code ?? 0);
    },
    cwd: () => deno().cwd(),
    platform: "linux",
    arch: "x64",
    get pid() {
      return deno().pid;
    },
    get ppid() {
      return deno().ppid;
    },
    stdout: output("stdout"),
    stderr: output("stderr"),
    stdin: {
      get isTTY() {
        return deno().stdin.isTerminal();
      },
      async *[Symbol.asyncIterator]() {
        for await (const bytes of deno().stdin.readable) yield Buffer.from(bytes);
      },
      on() {
        throw refusal("process.stdin.on", "use for await (… of process.stdin), or fs.readFileSync(0)");
      },
    },
    nextTick: (run: Callable, ...args: unknown[]) => queueMicrotask(() => run(...args)),
    uptime: () => performance.now() / 1000,
    hrtime: Object.assign(() => [Math.trunc(performance.now() / 1000), (Math.trunc(performance.now()) % 1000) * 1e6], {
      bigint: () => BigInt(Math.trunc(performance.now())) * 1_000_000n,
    }),
    on: listening("addSignalListener"),
    off: listening("removeSignalListener"),
    chdir() {
      throw refusal("process.chdir", "give whole paths");
    },
  };
}

/** What there is of `os`: what is the same everywhere, and what a `sys` or `env` grant opens. */
export const nodeOs: Readonly<Record<string, unknown>> = {
  EOL: "\n",
  devNull: "/dev/null",
  platform: () => "linux",
  type: () => "Linux",
  arch: () => "x64",
  endianness: () => "LE",
  availableParallelism: () => 1,
  hostname: () => deno().hostname(),
  release: () => deno().osRelease(),
  uptime: () => deno().osUptime(),
  loadavg: () => deno().loadavg(),
  totalmem: () => (deno().systemMemoryInfo() as { total: number }).total,
  freemem: () => (deno().systemMemoryInfo() as { available: number }).available,
  homedir: () => deno().env.get("HOME"),
  tmpdir: () => (deno().env.get("TMPDIR") ?? "/tmp").replace(/(.)\/$/, "$1"),
};
