import type { HookAnswer, HookReply } from "../../core/domain/hook.ts";
import type { Permission } from "../permission/permission.ts";

/** How far a hook may go, each level with all before it. Without one it may do whatever else it was granted. */
export const HOOK_LEVELS = ["read", "write", "execute", "network", "admin"] as const;
export type HookLevel = (typeof HOOK_LEVELS)[number];

/** What lies above each level, in the permission language; `admin` has nothing above it. */
const ABOVE: Readonly<Record<HookLevel, readonly Permission[]>> = (() => {
  const network: readonly Permission[] = [];
  const execute: readonly Permission[] = [{ kind: "net" }];
  const write: readonly Permission[] = [...execute, { kind: "run" }, { kind: "tool" }];
  const read: readonly Permission[] = [...write, { kind: "write" }, { kind: "memory", access: "write" }];
  return { read, write, execute, network, admin: network };
})();

/** The denials that keep a hook below the levels above its own, also when a person is asked. */
export function deniedAbove(level: HookLevel): readonly Permission[] {
  return ABOVE[level];
}

/** The lowest level that covers a permission. */
export function levelOf(permission: Permission): HookLevel {
  switch (permission.kind) {
    case "read":
    case "env":
    case "sys":
      return "read";
    case "memory":
      return permission.access === undefined || permission.access === "write" ? "write" : "read";
    case "write":
      return "write";
    case "run":
    case "tool":
      return "execute";
    case "net":
      return "network";
  }
}

export function isAbove(level: HookLevel, other: HookLevel): boolean {
  return HOOK_LEVELS.indexOf(level) > HOOK_LEVELS.indexOf(other);
}

/** A hook of level `read` looks on: all it can say is pass. */
export function mayAnswer(level: HookLevel, answer: HookAnswer): boolean {
  return level !== "read" || answer.do === "pass";
}

/** What came of an answer that its level does not let a hook give: nothing. */
export function rejectedReply(name: string, answer: HookAnswer, level: HookLevel, ms: number): HookReply {
  const because = `hook "${name}" answered ${answer.do}, which level=${level} does not let it: it counts as a pass`;
  return { answer: { do: "pass" }, because, ms };
}
