import type { EscapeCase } from "../escape-case.ts";

const absent = (...names: readonly string[]) => names.map((name) => `(0, eval)("typeof ${name}")`);

export const SURFACE: readonly EscapeCase[] = [
  { name: "looks for WebAssembly", tries: absent("WebAssembly", "globalThis.WebAssembly"), sees: /^undefined$/ },
  {
    name: "looks for shared memory",
    tries: [...absent("SharedArrayBuffer", "Atomics"), `typeof new ArrayBuffer(8, { maxByteLength: 16 }).grow`],
    sees: /^undefined$/,
  },
  {
    name: "looks for threads and channels",
    tries: absent("Worker", "SharedWorker", "BroadcastChannel", "postMessage", "importScripts", "onmessage"),
    sees: /^undefined$/,
  },
  {
    name: "looks for other ways to the network",
    tries: absent("EventSource", "XMLHttpRequest", "WebTransport", "RTCPeerConnection", "sendBeacon"),
    sees: /^undefined$/,
  },
  {
    name: "looks for what Node has",
    tries: absent(
      "process",
      "require",
      "module",
      "exports",
      "Buffer",
      "global",
      "__dirname",
      "__filename",
      "setImmediate",
      "root",
    ),
    sees: /^undefined$/,
  },
  {
    name: "looks for what engines have in their shells",
    tries: absent(
      "gc",
      "d8",
      "load",
      "read",
      "print",
      "quit",
      "version",
      "Realm",
      "ShadowRealm",
      "$vm",
      "$262",
      "inspector",
    ),
    sees: /^undefined$/,
  },
  {
    name: "uses the syntax of the engine's own tests",
    tries: [`(0, eval)("%DebugPrint(1)")`, `new Function("return %GetOptimizationStatus(() => {})")()`],
    sees: /SyntaxError/,
  },
  {
    name: "calls what Deno has and we have not",
    tries: [
      `Deno.dlopen("libc.so.6", {})`,
      `Deno.connect({ port: {{SECRET_PORT}} })`,
      `Deno.connectTls({ port: 1 })`,
      `Deno.listen({ port: 0 })`,
      `Deno.serve(() => {})`,
      `Deno.resolveDns("localhost", "A")`,
      `Deno.kill(1, "SIGKILL")`,
      `Deno.chdir("/")`,
      `Deno.umask()`,
      `Deno.createHttpClient({})`,
      `Deno.addSignalListener("SIGINT", () => {})`,
    ],
    sees: /NotSupported/,
  },
  {
    name: "calls what Deno has without a word here",
    tries: [
      `typeof Deno.bench`,
      `typeof Deno.run`,
      `typeof Deno.startTls`,
      `typeof Deno.listenDatagram`,
      `typeof Deno.UnsafePointer`,
      `typeof Deno.openKv`,
      `typeof Deno.cron`,
      `typeof Deno.jupyter`,
      `typeof Deno.lint`,
    ],
    sees: /^undefined$/,
  },
  { name: "ends its process", tries: [`Deno.exit(0)`, `Deno.exit()`], sees: /NotSupported/ },
];
