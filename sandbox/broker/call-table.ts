import { type CallName, type Calls, HEARD_SIGNALS, type Json } from "../guest/guest-protocol.ts";
import {
  anyJson,
  entriesOf,
  fields,
  flag,
  listOf,
  oneOf,
  orNull,
  pairOf,
  pathText,
  type Shape,
  text,
  wholeNumber,
} from "./argument-shape.ts";
import type { CheckedCommand } from "./command.ts";
import { done, type Outcome, refuse } from "./outcome.ts";

/** The largest byte counts and numbers that calls may carry. */
const MODE_MAX = 0o7777;
const HEADERS_MAX = 256;
const SUBPROTOCOLS_MAX = 32;
const COMMAND_ARGUMENTS_MAX = 4096;
const COMMAND_VARIABLES_MAX = 1024;
const HITS_MAX = 50;
/** Paths of one watcher. */
const WATCHED_PATHS_MAX = 64;
const TEMPORARY_AFFIX_CHARS = 128;
const TOOL_NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Bytes as base64, strictly: what Node would skip or guess is refused. */
const bytes: Shape<string> = (value, name) => {
  const read = text(value, name);
  if (!read.ok) return read;
  return isBase64(read.value) ? read : refuse("TypeError", `${name} must be base64`);
};

/** A long text is looked at in pieces: one regular expression over all of it would recurse too deep. */
function isBase64(value: string): boolean {
  if (value.length % 4 !== 0) return false;
  const pieceChars = 64 * 1024;
  for (let at = 0; at < value.length; at += pieceChars) {
    const piece = value.slice(at, at + pieceChars);
    const isLast = at + pieceChars >= value.length;
    if (!BASE64.test(piece) || (!isLast && piece.endsWith("="))) return false;
  }
  return true;
}

const toolName: Shape<string> = (value, name) => {
  const read = text(value, name);
  return !read.ok || TOOL_NAME.test(read.value) ? read : refuse("TypeError", `${name} is not the name of a tool`);
};

const jsonRecord: Shape<{ readonly [key: string]: Json }> = (value, name) =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? done(value as { readonly [key: string]: Json })
    : refuse("TypeError", `${name} must be an object`);

const mode = orNull(wholeNumber(0, MODE_MAX));
const path = fields({ path: pathText });
const write = fields({
  path: pathText,
  data: text,
  options: fields({ append: flag, create: flag, createNew: flag, mode }),
});
const writeBytes = fields({
  path: pathText,
  data: bytes,
  options: fields({ append: flag, create: flag, createNew: flag, mode }),
});
const number = wholeNumber(0, Number.MAX_SAFE_INTEGER);
/** Milliseconds since 1970, a century of millennia either way, as `Date` has it. */
const time = wholeNumber(-8.64e15, 8.64e15);
const handle = fields({ handle: number });
const pieceBytes = wholeNumber(1, Number.MAX_SAFE_INTEGER);
const affix: Shape<string> = (value, name) => {
  const read = text(value, name);
  return !read.ok || read.value.length <= TEMPORARY_AFFIX_CHARS
    ? read
    : refuse("RangeError", `${name} has ${TEMPORARY_AFFIX_CHARS} characters at most`);
};
const descriptor = fields({ name: text, value: orNull(text) });

const commandFields = {
  program: text,
  args: listOf(text, COMMAND_ARGUMENTS_MAX),
  cwd: orNull(pathText),
  env: entriesOf(text, COMMAND_VARIABLES_MAX),
  clearEnv: flag,
};

const command: Shape<WholeCommand> = (value, name) => {
  const read = fields({ ...commandFields, stdin: orNull(bytes) })(value, name);
  return read.ok ? done({ ...read.value, stdin: Buffer.from(read.value.stdin ?? "", "base64") }) : read;
};

type WholeCommand = CheckedCommand & { readonly stdin: Buffer };
type StartedCommand = CheckedCommand & { readonly stdin: boolean };
type Arguments = {
  [N in CallName]: N extends "command" ? WholeCommand : N extends "commandStart" ? StartedCommand : Calls[N][0];
};

/** What each call must carry. */
const SHAPES: { readonly [N in CallName]: Shape<Arguments[N]> } = {
  readTextFile: path,
  readFile: path,
  writeTextFile: write,
  writeFile: writeBytes,
  readDir: path,
  stat: path,
  lstat: path,
  mkdir: fields({ path: pathText, recursive: flag, mode }),
  remove: fields({ path: pathText, recursive: flag }),
  rename: fields({ from: pathText, to: pathText }),
  copyFile: fields({ from: pathText, to: pathText }),
  truncate: fields({ path: pathText, length: number }),
  chmod: fields({ path: pathText, mode: wholeNumber(0, MODE_MAX) }),
  utime: fields({ path: pathText, atime: time, mtime: time }),
  realPath: path,
  readLink: path,
  makeTemp: fields({ kind: oneOf("file", "folder"), dir: orNull(pathText), prefix: affix, suffix: affix }),
  openFile: fields({
    path: pathText,
    options: fields({
      ...{ read: flag, write: flag, append: flag, truncate: flag },
      ...{ create: flag, createNew: flag, mode },
    }),
  }),
  fileRead: fields({ handle: number, bytes: pieceBytes }),
  fileWrite: fields({ handle: number, data: bytes }),
  fileSeek: fields({
    handle: number,
    offset: wholeNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    whence: wholeNumber(0, 2),
  }),
  fileTruncate: fields({ handle: number, length: number }),
  fileSync: handle,
  fileStat: handle,
  fileUtime: fields({ handle: number, atime: time, mtime: time }),
  watchStart: fields({ paths: listOf(pathText, WATCHED_PATHS_MAX), recursive: flag }),
  watchNext: handle,
  commandStart: fields({ ...commandFields, stdin: flag }),
  commandRead: fields({ handle: number, from: oneOf("stdout", "stderr") }),
  commandDrop: fields({ handle: number, from: oneOf("stdout", "stderr") }),
  commandWrite: fields({ handle: number, data: orNull(bytes) }),
  commandWait: handle,
  commandKill: handle,
  closeHandle: handle,
  inputRead: fields({ bytes: pieceBytes }),
  listenSignal: fields({ signal: oneOf(...HEARD_SIGNALS), on: flag }),
  socketOpen: fields({ url: text, protocols: listOf(text, SUBPROTOCOLS_MAX) }),
  socketSend: fields({ socket: number, binary: flag, data: text }),
  socketRead: fields({ socket: number }),
  socketClose: fields({ socket: number, code: orNull(wholeNumber(1000, 4999)), reason: text }),
  fetch: fields({
    url: text,
    method: text,
    headers: listOf(pairOf(text, text), HEADERS_MAX),
    body: orNull(bytes),
    redirect: oneOf("follow", "manual", "error"),
  }),
  abort: fields({ call: wholeNumber(0, Number.MAX_SAFE_INTEGER) }),
  command,
  queryPermission: descriptor,
  requestPermission: descriptor,
  revokePermission: descriptor,
  storeGet: fields({ key: text }),
  storeSet: fields({ key: text, value: anyJson }),
  storeDelete: fields({ key: text }),
  storeList: fields({ prefix: text }),
  memorySearch: fields({ query: text, limit: wholeNumber(1, HITS_MAX) }),
  memoryRemember: fields({ text }),
  callTool: fields({ tool: toolName, args: jsonRecord }),
};

/** A handler for every call. */
export type Handlers = {
  readonly [N in CallName]: (args: Arguments[N], signal: AbortSignal) => Promise<Outcome<Calls[N][1]>>;
};

/** Checks what a guest sent and hands it to its handler. A name that is none is refused. */
export async function serveCall(
  handlers: Handlers,
  name: CallName,
  args: Json,
  signal: AbortSignal,
): Promise<Outcome<Json>> {
  if (!Object.hasOwn(SHAPES, name)) return refuse("TypeError", "there is no such call");
  return serve(handlers, name, args, signal);
}

async function serve<N extends CallName>(
  handlers: Handlers,
  name: N,
  args: Json,
  signal: AbortSignal,
): Promise<Outcome<Calls[N][1]>> {
  const read = SHAPES[name](args, "the argument");
  return read.ok ? handlers[name](read.value, signal) : read;
}
