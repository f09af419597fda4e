import type { ApprovalAsked } from "../proto/gen/clawd/v1/event_pb.ts";
import { escapeLine, shorten } from "./escape.ts";

/** The daemon asks about nothing that is longer: what a person answers, they have read whole. */
const SUBJECT_LIMIT = 1200;

/** What each kind of permission is about: with its value, and without one. */
const DEEDS: Readonly<Record<string, readonly [(value: string) => string, string]>> = {
  read: [(value) => `read ${value}`, "read any file"],
  write: [(value) => `write ${value}`, "write any file"],
  net: [(value) => `connect to ${value}`, "connect to any host"],
  env: [(value) => `see the variable ${value}`, "see every variable"],
  run: [(value) => `run ${value}`, "run any program"],
  sys: [(value) => `learn ${value} of this machine`, "learn everything about this machine"],
  tool: [(value) => `call the tool ${value}`, "call any tool"],
  memory: [(value) => `use the memory to ${value}`, "use the memory"],
};

/** A permission as something one does: "read=/etc/hosts" → "read /etc/hosts". Harmless on a terminal. */
export function permissionText(permission: string): string {
  const at = permission.indexOf("=");
  const kind = at < 0 ? permission : permission.slice(0, at);
  const deed = Object.hasOwn(DEEDS, kind) ? DEEDS[kind] : undefined;
  if (deed === undefined) return `have ${shorten(escapeLine(permission), SUBJECT_LIMIT)}`;
  const [withValue, withoutValue] = deed;
  return at < 0 ? withoutValue : withValue(shorten(escapeLine(permission.slice(at + 1)), SUBJECT_LIMIT));
}

/** Who wants it: "hook:guard" → "hook guard". */
export function principalText(principal: string): string {
  return escapeLine(principal.replace(":", " "));
}

/** A question in the words of a plugin: neither about a call nor about a permission. */
export function isOwnWords({
  tool,
  permission,
  principal,
}: Pick<ApprovalAsked, "tool" | "permission" | "principal">): boolean {
  return tool === "" && permission === "" && principal !== "";
}
