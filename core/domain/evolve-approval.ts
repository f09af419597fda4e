import { type ApprovalAnswered, type ApprovalAsked, ApprovalScope } from "../../proto/gen/clawd/v1/event_pb.ts";
import { type Approval, answerKey, definitionKey, readHookCallId, type Session } from "./session.ts";

const SCOPES: Readonly<Record<number, Approval["scope"]>> = {
  [ApprovalScope.SESSION]: "session",
  [ApprovalScope.ALWAYS]: "always",
};

export function askApproval(session: Session, asked: ApprovalAsked): Partial<Session> {
  const { approvalId, callId, tool, permission, principal, edition, requestedSchema } = asked;
  const approval: Approval = {
    ...{ callId, tool, permission, principal, edition, status: "open", scope: "once" },
    ...(requestedSchema === undefined ? {} : { requestedSchema }),
  };
  return { approvals: new Map(session.approvals).set(approvalId, approval) };
}

/** What was said about a hook or a plugin is never taken for a word about the model, or the other way round. */
export function answerApproval(
  session: Session,
  { approvalId, allowed, scope, content }: ApprovalAnswered,
): Partial<Session> {
  const approval = session.approvals.get(approvalId);
  if (approval === undefined) return {};
  const reach = SCOPES[scope] ?? "once";
  const status = allowed ? "allowed" : "refused";
  const approvals = new Map(session.approvals).set(approvalId, {
    ...{ ...approval, status, scope: reach },
    ...(content === undefined ? {} : { content }),
  });
  const { callId, tool, permission, principal } = approval;
  const definition = definitionKey(tool, approval.edition);
  // What a plugin asks in its own words is answered once, whatever a client says of the answer's reach.
  const isOwnWords = tool === "" && permission === "";
  if (reach === "once" || isOwnWords) return { approvals };
  const hook = permission === "" && !session.calls.has(callId) ? readHookCallId(callId) : undefined;
  const key =
    permission !== "" ? answerKey(principal, permission) : hook && answerKey(hook.principal, `calls ${definition}`);
  if (key !== undefined) return { approvals, hookAnswers: new Map(session.hookAnswers).set(key, allowed) };
  return allowed ? { approvals, allowedTools: [...session.allowedTools, definition] } : { approvals };
}

export function expireApproval(session: Session, id: string): Partial<Session> {
  const approval = session.approvals.get(id);
  if (approval === undefined) return {};
  return { approvals: new Map(session.approvals).set(id, { ...approval, status: "expired" }) };
}

/** The questions of a turn end with it; one from outside a turn may still be open. */
export function openApprovals({ approvals }: Session): Session["approvals"] {
  return new Map([...approvals].filter(([, { status }]) => status === "open"));
}
