import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bundleFixture, type FolderFiles } from "../../plugin-host/fixtures/plugin-lab.ts";
import { GO_PLUGINS } from "./go-plugins.ts";
import { PYTHON_PLUGINS } from "./python-plugins.ts";
import { RUST_PLUGINS } from "./rust-plugins.ts";

/**
 * The one plugin of the contract suite, in each language and on each library that we promise to work. Its name is
 * "contract", its version 1.0.0. Its tools:
 * - `echo {text}` gives the text back; `big {bytes}` gives so many letters; `fail {message}` fails with the message.
 * - `count {to}` shows "1 of N", "2 of N" … as progress; `stream {pieces}` sends each as output, then results in "end".
 * - `wait` shows "waiting" and waits until it is cancelled, which it tells on standard error: "the call was cancelled".
 * - `settings` gives its settings as JSON; settings with `bad: true` are refused with "bad settings".
 * - `where` gives the folder that its conversation works in.
 * - `recall {query}` searches memory for two hits, a line each: "SOURCE: TEXT".
 * Its hook at tool.before looks at the arguments: waits `slowMs`, and tells when it is cancelled meanwhile; then blocks
 * because of `block`, answers `{said: answer}`, fails with `fail`, puts `{text: more}` in their place, or passes.
 */
export type ContractPlugin = {
  readonly title: string;
  readonly command: readonly [string, ...string[]];
  /** The same, a second late. */
  readonly slowly: {
    readonly command: readonly [string, ...string[]];
    readonly files: FolderFiles;
  };
  readonly files: () => Promise<FolderFiles>;
  /** What it must see beside its folder, absolute: the packages of its language. */
  readonly readable?: readonly string[];
  /** What it chooses when it may. */
  readonly major: number;
  readonly wire: string;
  /** Why it cannot run here. */
  readonly missing: string | undefined;
};

export const TOOLS = ["echo", "count", "stream", "wait", "big", "settings", "fail", "recall", "where"];

/** The Python that a sandboxed plugin finds. */
const PYTHON = "/usr/bin/python3";
const hasPython = spawnSync(PYTHON, ["-c", "import http.server"]).status === 0;
const read = (path: string) => readFileSync(join(import.meta.dirname, path), "utf8");
const bundle = (path: string) => async () => ({ "main.mjs": await bundleFixture(`../../tests/contract/${path}`) });

const slowNode = {
  command: ["node", "slow.mjs"] as const,
  files: { "slow.mjs": 'setTimeout(() => import("./main.mjs"), 1000);' },
};

export const CONTRACT_PLUGINS: readonly ContractPlugin[] = [
  {
    title: "the library for TypeScript",
    command: ["node", "main.mjs"],
    slowly: slowNode,
    files: bundle("fixtures/sdk-plugin.ts"),
    major: 2,
    wire: "gRPC",
    missing: undefined,
  },
  {
    title: "grpc-js",
    command: ["node", "main.mjs"],
    slowly: slowNode,
    files: bundle("fixtures/grpc-js-plugin.ts"),
    major: 1,
    wire: "gRPC",
    missing: undefined,
  },
  {
    title: "the standard library of Python",
    command: [PYTHON, "main.py"],
    slowly: { command: [PYTHON, "slow.py"], files: { "slow.py": "import time\ntime.sleep(1)\nimport main\n" } },
    files: async () => ({
      "main.py": read("fixtures/stdlib_plugin.py"),
      "clawd_plugin.py": read("../../plugins-examples/python-stdlib/clawd_plugin.py"),
    }),
    major: 1,
    wire: "Connect JSON",
    missing: hasPython ? undefined : `there is no ${PYTHON} here`,
  },
  ...PYTHON_PLUGINS,
  ...GO_PLUGINS,
  ...RUST_PLUGINS,
];
