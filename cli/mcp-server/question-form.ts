import type { JsonObject } from "@bufbuild/protobuf";
import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";
import { type ApprovalAsked, ApprovalScope } from "../../proto/gen/clawd/v1/event_pb.ts";
import { escapeLine, shorten } from "../escape.ts";
import { isOwnWords, permissionText, principalText } from "../permission-text.ts";

/** What a person reads of a call's arguments, characters. */
const ARGUMENTS_LIMIT = 2_000;
const REASON_LIMIT = 400;

/** What a person said: yes and how far it reaches, no, or that they want none of it. */
export type Reply =
  | { readonly allowed: boolean; readonly scope: ApprovalScope; readonly content?: JsonObject }
  | "dismissed";

/** A question as a form of the client's: to accept it is a yes. */
export function questionForm(question: ApprovalAsked): ElicitRequestFormParams {
  const message = questionText(question);
  if (isOwnWords(question)) return { message, requestedSchema: formOf(question) };
  const title =
    question.permission === "" ? `Allow ${question.tool} for the whole session` : "Allow it for the whole session";
  return {
    message,
    requestedSchema: {
      type: "object",
      properties: { session: { type: "boolean", title, default: false } },
    },
  };
}

/** What a stranger asks for was judged by the daemon: flat, and of the protocol's own kinds. */
function formOf({ requestedSchema }: ApprovalAsked): ElicitRequestFormParams["requestedSchema"] {
  if (requestedSchema === undefined) return { type: "object", properties: {} };
  return requestedSchema as unknown as ElicitRequestFormParams["requestedSchema"];
}

function questionText(question: ApprovalAsked): string {
  const { tool, args, permission, principal, because } = question;
  if (isOwnWords(question)) return `${principalText(principal)} asks: ${escapeLine(because)}`;
  if (permission !== "") return `${principalText(principal)} wants to ${permissionText(permission)}. Allow it?`;
  const written = shorten(escapeLine(JSON.stringify(args ?? {})), ARGUMENTS_LIMIT);
  return `Allow ${escapeLine(tool)} ${written}? (${shorten(escapeLine(because), REASON_LIMIT)})`;
}

/** Reads an answer to a question that came over the wire; undefined for one that is none. */
export function readReply(
  answer: unknown,
  { requestedSchema }: Pick<ApprovalAsked, "requestedSchema">,
): Reply | undefined {
  if (typeof answer !== "object" || answer === null || !("action" in answer)) return undefined;
  if (answer.action === "cancel") return "dismissed";
  if (answer.action === "decline") return { allowed: false, scope: ApprovalScope.ONCE };
  if (answer.action !== "accept") return undefined;
  const content = "content" in answer ? answer.content : undefined;
  const filledIn = typeof content === "object" && content !== null ? content : {};
  // Came as JSON; whether it fits is the daemon's to say.
  if (requestedSchema !== undefined)
    return { allowed: true, scope: ApprovalScope.ONCE, content: filledIn as JsonObject };
  const session = "session" in filledIn && filledIn.session === true;
  return { allowed: true, scope: session ? ApprovalScope.SESSION : ApprovalScope.ONCE };
}
