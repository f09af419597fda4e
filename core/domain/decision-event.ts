import { PermissionSource } from "../../proto/gen/clawd/v1/event_pb.ts";
import type { EventBody } from "./event.ts";
import type { PermissionDecision } from "./permission-decision.ts";

const SOURCES: Readonly<Record<PermissionDecision["by"], PermissionSource>> = {
  rule: PermissionSource.RULE,
  remembered: PermissionSource.REMEMBERED,
  person: PermissionSource.PERSON,
  nobody: PermissionSource.NOBODY,
  storm: PermissionSource.STORM,
};

/** A decision as a journal keeps it. Both ids are empty outside a session. */
export function decisionEvent({ by, ...decision }: PermissionDecision, sessionId: string, turnId: string): EventBody {
  return { case: "permissionDecided", value: { ...decision, source: SOURCES[by], sessionId, turnId } };
}
