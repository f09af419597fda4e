import type { JsonObject } from "@bufbuild/protobuf";
import type { ToolCallBlock } from "../proto/gen/clawd/v1/content_pb.ts";
import {
  type ApprovalAnswered,
  type ApprovalAsked,
  ApprovalScope,
  type Event,
  type HookRan,
  HookVerdict,
  type PermissionDecided,
  PermissionSource,
  type ToolCallAsked,
  type ToolCallEnded,
  type ToolCallStarted,
  ToolCallStatus,
  type ToolsChosen,
  type TurnEnded,
  TurnOutcome,
} from "../proto/gen/clawd/v1/event_pb.ts";
import { type Delta, DeltaKind } from "../proto/gen/clawd/v1/session_pb.ts";
import { escapeControls, escapeLine, shorten } from "./escape.ts";
import { isOwnWords, permissionText, principalText } from "./permission-text.ts";
import { openReplyText } from "./reply-text.ts";
import type { Paint, Style } from "./screen.ts";

const ARGUMENTS_LIMIT = 100;
const NAMES_LIMIT = 200;
const REASON_LIMIT = 400;
/** The daemon takes no longer one: what a person answers, they have read whole. */
const OWN_WORDS_LIMIT = 2400;
/** Arguments of calls whose end is still to come; a session has far fewer calls under way. */
const OPEN_CALLS_LIMIT = 1_000;

/** Each turn has three such lines at most. */
const WAITING_LINES_LIMIT = 16;

/** What one piece of news looks like: words of the reply for stdout, lines for stderr, and what is under way now. */
export type Shown = { readonly text: string; readonly notes: readonly string[]; readonly spin?: string };

const NOTHING: Shown = { text: "", notes: [] };

export type Transcript = {
  /** `elsewhere`: the event settles a question that was open here, and was not settled from here. */
  event(event: Event, elsewhere?: boolean): Shown;
  delta(delta: Delta): Shown;
};

/** Lays out a session's news as they come. Foreign words in `notes` are harmless on a terminal; `text` is as the model wrote it. */
export function openTranscript(paint: Paint, options: { readonly echoUser: boolean }): Transcript {
  const reply = openReplyText();
  const openCalls = new Map<string, string>();
  /** Calls that a hook blocked, with its reason: the line of the hook told it already. */
  const blockedCalls = new Set<string>();

  /** Lines that came while words were being printed: words overtake events, and a line would tear them apart. */
  const waiting: string[] = [];

  /** Questions in a plugin's own words that were not answered yet. */
  const ownWords = new Set<string>();

  function aside(line: string): Shown {
    if (!reply.isMidLine() || waiting.length >= WAITING_LINES_LIMIT) return note("", line);
    waiting.push(line);
    return NOTHING;
  }

  function callWanted(call: ToolCallBlock | ToolCallAsked | ToolCallStarted): Shown {
    const args = argumentsText(call.args);
    if (openCalls.size < OPEN_CALLS_LIMIT) openCalls.set(call.callId, args);
    return { ...NOTHING, spin: `${escapeLine(call.tool)} ${args}` };
  }

  function toolEnded(call: ToolCallEnded): Shown {
    const args = openCalls.get(call.callId) ?? "";
    openCalls.delete(call.callId);
    const caller = callerOf(call.callId);
    if (caller !== undefined) return { text: "", notes: strangerCallLines(caller, call, args, paint) };
    return { text: "", notes: toolLines(call, args, paint, blockedCalls.delete(call.callId)) };
  }

  return {
    delta(delta) {
      switch (delta.kind) {
        case DeltaKind.TEXT:
          // The model speaks again when all calls have ended. A delta may overtake the events that say so; then the
          // event that closes its block brings the words, in their right place.
          if (openCalls.size > 0) return NOTHING;
          return { text: reply.delta(delta, delta.offset, delta.text), notes: [] };
        case DeltaKind.THINKING:
          return { ...NOTHING, spin: "thinking" };
        case DeltaKind.PROGRESS:
          return { ...NOTHING, spin: shorten(escapeLine(lastLine(delta.text)), ARGUMENTS_LIMIT) };
        default:
          return NOTHING;
      }
    },
    event(event, elsewhere = false) {
      const { body } = event;
      switch (body.case) {
        case "userSpoke":
          return options.echoUser
            ? { text: reply.finish(), notes: [paint("bold", `› ${escapeControls(body.value.text)}`)] }
            : NOTHING;
        case "turnStarted":
          return body.value.caller === ""
            ? { ...NOTHING, spin: `${escapeLine(body.value.model)} is thinking` }
            : note(reply.finish(), paint("dim", `» ${escapeLine(body.value.caller)} calls`));
        case "toolCallAsked":
          return callWanted(body.value);
        case "turnResumed":
          return note(
            reply.finish(),
            paint(
              "yellow",
              `↻ the daemon was restarted and takes the turn up again${body.value.attempt > 1 ? ` (time ${body.value.attempt})` : ""}`,
            ),
          );
        case "blockEnded": {
          const { content } = body.value;
          if (content?.kind.case === "text") {
            return { text: reply.blockEnded(body.value, content.kind.value.text), notes: waiting.splice(0) };
          }
          return content?.kind.case === "toolCall" ? callWanted(content.kind.value) : NOTHING;
        }
        case "hookRan":
          if (body.value.verdict === HookVerdict.BLOCK && body.value.ran) blockedCalls.add(body.value.callId);
          return { text: "", notes: hookLines(body.value, paint) };
        case "approvalAsked":
          if (isOwnWords(body.value) && ownWords.size < OPEN_CALLS_LIMIT) ownWords.add(body.value.approvalId);
          return note("", questionLine(body.value, paint));
        case "approvalAnswered":
          return note(
            "",
            paint(
              "dim",
              `  ${ownWords.delete(body.value.approvalId) ? yesOrNo(body.value) : answerText(body.value)}${elsewhere ? ", on another terminal" : ""}`,
            ),
          );
        case "approvalExpired":
          return note("", paint("dim", "  nobody answered in time"));
        case "permissionDecided":
          return { text: "", notes: decisionLines(body.value, paint) };
        case "toolCallStarted":
          // With the arguments that it really runs with: a hook may have changed them.
          return callWanted(body.value);
        case "toolCallEnded":
          return toolEnded(body.value);
        case "interruptRequested":
          return note("", paint("yellow", "■ asked to stop"));
        case "turnEnded":
          openCalls.clear();
          blockedCalls.clear();
          ownWords.clear();
          return { text: reply.finish(), notes: [...waiting.splice(0), ...turnLines(body.value, paint)] };
        case "memoryRemembered":
          return note("", paint("dim", `✎ remembered: ${reason(body.value.text)}`));
        case "memoryRecalled":
          return aside(paint("dim", `✎ from memory: ${recalledText(body.value.memoryIds.length)}`));
        case "profileShown":
          return aside(paint("dim", body.value.text === "" ? "✎ no profile any more" : "✎ with your profile"));
        case "toolsChosen":
          return aside(paint("dim", `✎ ${choiceText(body.value)}`));
        case "memoryForgotten":
          return note("", paint("dim", `✎ forgot ${escapeLine(body.value.memoryId)}`));
        case "sessionOpened":
        case "replyEnded":
        case "contextBuilt": // The hooks that did it have lines of their own.
        case undefined:
          return NOTHING;
        default:
          return NOTHING; // A newer daemon's event.
      }
    },
  };
}

function choiceText({ leftOut, problem }: ToolsChosen): string {
  if (problem !== "") return `all tools are shown: ${reason(problem)}`;
  const names = escapeLine(shorten(leftOut.map(({ tool }) => tool).join(", "), NAMES_LIMIT));
  return leftOut.length === 0 ? "all tools are shown" : `left out ${leftOut.length} tools: ${names}`;
}

function recalledText(hits: number): string {
  return hits === 1 ? "one thing about that" : `${hits} things about that`;
}

function note(text: string, line: string): Shown {
  return { text, notes: [line] };
}

function reason(text: string): string {
  return shorten(escapeLine(text), REASON_LIMIT);
}

function questionLine({ tool, args, because, permission, principal }: ApprovalAsked, paint: Paint): string {
  const mark = paint("yellow", "?");
  if (isOwnWords({ tool, permission, principal }))
    return `${mark} ${principalText(principal)} asks: ${shorten(escapeLine(because), OWN_WORDS_LIMIT)}`;
  if (permission === "") return `${mark} ${escapeLine(tool)} ${argumentsText(args)} ${paint("dim", reason(because))}`;
  return `${mark} ${principalText(principal)} wants to ${permissionText(permission)}`;
}

const REACHES: Readonly<Record<number, string>> = {
  [ApprovalScope.SESSION]: "for the rest of the session",
  [ApprovalScope.ALWAYS]: "always",
};

function yesOrNo({ allowed }: ApprovalAnswered): string {
  return allowed ? "yes" : "no";
}

function answerText({ allowed, scope }: ApprovalAnswered): string {
  const reach = REACHES[scope];
  if (allowed) return `allowed ${reach ?? "once"}`;
  return reach === undefined ? "refused" : `refused ${reach}`;
}

/** What was allowed is in the journal; a person reads what was not, unless it was they who said no. */
function decisionLines(decided: PermissionDecided, paint: Paint): string[] {
  if (decided.allowed || decided.source === PermissionSource.PERSON) return [];
  const what = `${principalText(decided.principal)} may not ${permissionText(decided.permission)}`;
  return [`${paint("red", "⊘")} ${what} ${paint("dim", reason(decided.because))}`.trimEnd()];
}

/** The hook or plugin that made a call, "hook NAME"; undefined for a call of the model's. */
function callerOf(callId: string): string | undefined {
  const end = callId.lastIndexOf(":");
  return /^(?:hook|plugin):/.test(callId) && end > callId.indexOf(":")
    ? principalText(callId.slice(0, end))
    : undefined;
}

function strangerCallLines(caller: string, call: ToolCallEnded, args: string, paint: Paint): string[] {
  const [first = "", ...more] = toolLines(call, args, paint, false);
  return [`${paint("cyan", "◆")} ${caller} called: ${first}`, ...more];
}

const STATUS_LOOKS: Readonly<Record<number, readonly [Style, string, string]>> = {
  [ToolCallStatus.DONE]: ["green", "✓", ""],
  [ToolCallStatus.FAILED]: ["red", "✗", "failed"],
  [ToolCallStatus.DENIED]: ["red", "⊘", "denied"],
  [ToolCallStatus.LOST]: ["yellow", "?", "lost"],
  [ToolCallStatus.CANCELLED]: ["yellow", "■", "cancelled"],
  [ToolCallStatus.ANSWERED]: ["cyan", "↩", "answered by a hook"],
};

function toolLines(call: ToolCallEnded, args: string, paint: Paint, isReasonTold: boolean): string[] {
  const [style, mark, word] = STATUS_LOOKS[call.status] ?? ["yellow", "?", "ended"];
  const facts = [word, call.ms > 0 ? formatMs(call.ms) : ""].filter((fact) => fact !== "").join(", ");
  const subject = args === "" ? escapeLine(call.tool) : `${escapeLine(call.tool)} ${args}`;
  const lines = [`${paint(style, mark)} ${subject} ${paint("dim", facts)}`.trimEnd()];
  if (call.failure !== undefined) {
    if (!isReasonTold) lines.push(paint("dim", `  ${reason(call.failure.message)}`));
    if (call.failure.hint !== "") lines.push(paint("dim", `  → ${reason(call.failure.hint)}`));
  }
  return lines;
}

const VERDICT_WORDS: Readonly<Record<number, string>> = {
  [HookVerdict.MODIFY]: "changed",
  [HookVerdict.BLOCK]: "blocked",
  [HookVerdict.ANSWER]: "answered",
  [HookVerdict.ASK]: "asks about",
};

/** Points at which nothing can be held back. */
const HEARD_ONLY: ReadonlySet<string> = new Set(["session.closed", "context.build", "step.after", "turn.ended"]);

function hookLines(ran: HookRan, paint: Paint): string[] {
  const isVain = ran.verdict === HookVerdict.BLOCK && HEARD_ONLY.has(ran.point);
  const word = isVain ? "could not block" : VERDICT_WORDS[ran.verdict];
  if (word === undefined || !ran.ran) return [];
  const style: Style = ran.verdict === HookVerdict.BLOCK ? "red" : "cyan";
  const because = ran.because === "" ? "" : `: ${reason(ran.because)}`;
  return [
    `${paint(style, "◆")} hook ${escapeLine(ran.hook)} ${word} ${escapeLine(ran.point)}${because} ${paint("dim", formatMs(ran.ms))}`,
  ];
}

function turnLines(ended: TurnEnded, paint: Paint): string[] {
  switch (ended.outcome) {
    case TurnOutcome.DONE:
      return [];
    case TurnOutcome.CANCELLED:
      return [paint("yellow", "■ the turn was stopped")];
    default: {
      const lines = [paint("red", `✗ the turn failed: ${reason(ended.failure?.message ?? "no reason was given")}`)];
      if ((ended.failure?.hint ?? "") !== "") lines.push(paint("dim", `  → ${reason(ended.failure?.hint ?? "")}`));
      return lines;
    }
  }
}

/** A spinner has room for one line; of several that came together the last one is the news. */
function lastLine(text: string): string {
  const lines = text.trim();
  return lines.slice(lines.lastIndexOf("\n") + 1);
}

/** Arguments on one line: the plain value when there is one, `key=value` pairs otherwise. */
function argumentsText(args: JsonObject | undefined): string {
  const pairs = Object.entries(args ?? {});
  const show = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
  const [only] = pairs;
  const text =
    pairs.length === 1 && only !== undefined
      ? show(only[1])
      : pairs.map(([key, value]) => `${key}=${show(value)}`).join(" ");
  return shorten(escapeLine(text), ARGUMENTS_LIMIT);
}

/** Milliseconds for eyes: "0.4 ms", "12 ms", "3.1 s". */
export function formatMs(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
