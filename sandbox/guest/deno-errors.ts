/** The error classes of `Deno.errors`. Runs inside the isolate. */

import type { CallError } from "./guest-protocol.ts";

const NAMES = [
  "NotFound",
  "PermissionDenied",
  "ConnectionRefused",
  "ConnectionReset",
  "ConnectionAborted",
  "NotConnected",
  "AddrInUse",
  "AddrNotAvailable",
  "BrokenPipe",
  "AlreadyExists",
  "InvalidData",
  "TimedOut",
  "Interrupted",
  "WriteZero",
  "WouldBlock",
  "UnexpectedEof",
  "BadResource",
  "Http",
  "Busy",
  "NotSupported",
  "FilesystemLoop",
  "IsADirectory",
  "NetworkUnreachable",
  "NotADirectory",
  "NotCapable",
] as const;

type DenoErrorName = (typeof NAMES)[number];
type ErrorClass = new (message?: string, options?: ErrorOptions) => Error;

/** System error numbers of Linux that a message may end its first part with, and the code that goes with them. */
const SYSTEM_CODES: Readonly<Record<string, string>> = {
  1: "EPERM",
  2: "ENOENT",
  13: "EACCES",
  16: "EBUSY",
  17: "EEXIST",
  18: "EXDEV",
  20: "ENOTDIR",
  21: "EISDIR",
  22: "EINVAL",
  26: "ETXTBSY",
  27: "EFBIG",
  28: "ENOSPC",
  30: "EROFS",
  36: "ENAMETOOLONG",
  39: "ENOTEMPTY",
  40: "ELOOP",
};

const { defineProperty, hasOwn } = Object;
const { apply } = Reflect;
const exec = RegExp.prototype.exec;
const SYSTEM_ERROR = /\(os error (\d+)\)/;
const BUILT_IN: Readonly<Record<string, ErrorClass>> = { Error, RangeError, SyntaxError, TypeError, URIError };

function errorClass(name: DenoErrorName): ErrorClass {
  const made = class extends Error {
    constructor(message?: string, options?: ErrorOptions) {
      super(message, options);
      defineProperty(this, "name", { value: name, writable: true, enumerable: true, configurable: true });
    }
  };
  defineProperty(made, "name", { value: name, configurable: true });
  return made;
}

/** Kept apart from `Deno.errors`: what a guest does to that object must not change what its calls reject with. */
const CLASSES = {} as Record<DenoErrorName, ErrorClass>;
for (const name of NAMES) CLASSES[name] = errorClass(name);

/** A new `Deno.errors`. */
export function denoErrors(): Record<DenoErrorName, ErrorClass> {
  return { ...CLASSES };
}

export function denoError(name: DenoErrorName, message: string): Error {
  return new CLASSES[name](message);
}

/** What a call that came to nothing rejects with: an error of its class, `code` where a system call failed. */
export function callError({ name, message }: CallError): Error {
  const kind = hasOwn(CLASSES, name)
    ? CLASSES[name as DenoErrorName]
    : hasOwn(BUILT_IN, name)
      ? BUILT_IN[name]
      : undefined;
  const error = new (kind ?? Error)(message);
  if (kind === undefined) defineProperty(error, "name", { value: name, writable: true, configurable: true });
  const number = (apply(exec, SYSTEM_ERROR, [message]) as RegExpExecArray | null)?.[1];
  if (number !== undefined && hasOwn(SYSTEM_CODES, number))
    defineProperty(error, "code", {
      value: SYSTEM_CODES[number],
      writable: true,
      enumerable: true,
      configurable: true,
    });
  return error;
}

/** For a part of Deno that is left out, and what there is in its place. */
export function notOffered(what: string, instead: string): Error {
  return denoError("NotSupported", `${what} is not offered${instead === "" ? "" : `: ${instead}`}`);
}
