import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import type { JsonValue } from "@bufbuild/protobuf";
import { isInFolder } from "../../sandbox/permission/grant.ts";

/** Opening a FIFO must not wait for its writer, and a link leads who knows where. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** A file, no link, that lies in a folder; false also for what cannot be read. */
export function isFileIn(folder: string, file: string): boolean {
  try {
    const opened = openSync(file, OPEN_FLAGS);
    try {
      return fstatSync(opened).isFile() && isInFolder(realpathSync(folder), realpathSync(file));
    } finally {
      closeSync(opened);
    }
  } catch {
    return false;
  }
}

/** Undefined for what is no JSON, or is longer than the limit. */
export function readJson(file: string, limitBytes: number): JsonValue | undefined {
  const text = readStart(file, limitBytes + 1);
  return Buffer.byteLength(text) > limitBytes ? undefined : parseJson(text);
}

/** Empty for what is no file, or is not there. */
export function readStart(file: string, limitBytes: number): string {
  try {
    const opened = openSync(file, OPEN_FLAGS);
    try {
      const info = fstatSync(opened);
      if (!info.isFile()) return "";
      const bytes = Buffer.alloc(Math.min(limitBytes, info.size));
      return bytes.toString("utf8", 0, readSync(opened, bytes));
    } finally {
      closeSync(opened);
    }
  } catch {
    return "";
  }
}

/** Undefined for what is none. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
