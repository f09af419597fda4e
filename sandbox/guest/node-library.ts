/** The `node:` modules that scripts can import: a library of its own. Runs inside the isolate. */

import * as assert from "@jspm/core/nodelibs/assert";
import * as buffer from "@jspm/core/nodelibs/buffer";
import * as events from "@jspm/core/nodelibs/events";
import * as path from "@jspm/core/nodelibs/path";
import * as url from "@jspm/core/nodelibs/url";
import * as util from "@jspm/core/nodelibs/util";
import { format, formatWithOptions, inspect } from "node-inspect-extracted";
import { type Buffers, fileSystem } from "./node-fs.ts";
import { argumentParser } from "./node-parse-args.ts";
import { nodeOs, nodeProcess } from "./node-process.ts";
import { takeStandInsAway } from "./node-stand-ins.ts";
import { styleText } from "./node-style-text.ts";

takeStandInsAway();

type Exports = Readonly<Record<string, unknown>>;

/** As a CommonJS module: what it gives by default, with its other names on it. */
function whole(exports: object): object {
  const { default: main, ...rest } = exports as Exports;
  return typeof main === "function" || typeof main === "object" ? Object.assign(main as object, rest) : rest;
}

const nodeAssert = whole(assert) as Exports & {
  readonly strict: object;
  deepStrictEqual(a: unknown, b: unknown): void;
};

function isDeepStrictEqual(a: unknown, b: unknown): boolean {
  try {
    nodeAssert.deepStrictEqual(a, b);
    return true;
  } catch {
    return false;
  }
}

const ESCAPE_SEQUENCES = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

const nodeUtil = {
  ...whole(util),
  ...{ format, formatWithOptions, inspect, isDeepStrictEqual, TextDecoder, TextEncoder },
  parseArgs: argumentParser(() => (globalThis as unknown as { Deno: { args: readonly string[] } }).Deno.args),
  styleText,
  stripVTControlCharacters: (text: string) => text.replace(ESCAPE_SEQUENCES, ""),
  toUSVString: (text: unknown) => String(text).toWellFormed(),
};
const nodePath = Object.assign(whole(path), { toNamespacedPath: (path: unknown) => path });

const nodeBuffer = whole(buffer) as { readonly Buffer: Buffers };
const { fs, promises } = fileSystem(nodeBuffer.Buffer);

/** By the name after `node:`. */
export const nodeModules = {
  assert: nodeAssert,
  "assert/strict": nodeAssert.strict,
  buffer: nodeBuffer,
  events: whole(events),
  fs,
  "fs/promises": promises,
  os: nodeOs,
  path: nodePath,
  "path/posix": nodePath,
  process: nodeProcess(nodeBuffer.Buffer),
  url: whole(url),
  util: nodeUtil,
  "util/types": (nodeUtil as Exports).types,
} as const;
