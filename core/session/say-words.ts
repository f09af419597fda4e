import type { Command } from "../domain/command.ts";
import { fail, ok, type Result } from "../domain/failure.ts";
import { type Awake, commandSession } from "./awake-session.ts";
import { hearCommand } from "./hear-command.ts";
import { hearMessage } from "./hear-message.ts";
import type { TurnContext, TurnServices } from "./turn/turn-context.ts";

export type SayOptions = {
  readonly text: string;
  readonly model: string;
  readonly allow: readonly string[];
  readonly yolo: boolean;
};

/**
 * The turn that answers; an empty one when nothing was said: a hook took the message, or it was a slash command, whose
 * answer for the person is then `shown`.
 */
export type Said = {
  readonly turnId: string;
  readonly seq: number;
  readonly steered: boolean;
  readonly shown: string;
};

const NOTHING_SAID: Said = { turnId: "", seq: 0, steered: false, shown: "" };

export type SayParts = {
  readonly services: TurnServices;
  readonly contextOf: (session: Awake, turnId: string, signal: AbortSignal) => TurnContext;
  /** Works on the turn that the words open, if they open one. */
  readonly start: (session: Awake) => void;
  /** Aborts when nothing may be said any more. */
  readonly stopping: AbortSignal;
};

/** A person's words, after slash commands and hooks had them: they begin a turn, or go into the one that runs. */
export async function sayWords(parts: SayParts, session: Awake, options: SayOptions): Promise<Result<Said>> {
  const { services, contextOf, stopping } = parts;
  if (stopping.aborted) {
    return fail("unavailable", "the daemon is ending", { hint: "say it again: the next one starts by itself" });
  }
  const state = session.writer.state();
  const resolved = services.providers.resolve(options.model === "" ? state.model : options.model);
  if (!resolved.ok) return resolved;
  const moment = contextOf(session, state.turn?.id ?? "", stopping);
  const meant = await hearCommand(moment, options.text);
  if (!meant.ok) return meant;
  if (meant.value.do === "show") return ok({ ...NOTHING_SAID, shown: meant.value.text });
  const heard = await hearMessage(moment, meant.value.text);
  if (!heard.ok) return heard;
  const { text, receipts } = heard.value;
  if (text === undefined) {
    const written = await session.writer.write(() => ok(receipts));
    return written.ok ? ok(NOTHING_SAID) : written;
  }
  const { provider, model } = resolved.value;
  const wanted: Extract<Command, { kind: "say" }> = {
    kind: "say",
    messageId: services.newId("message"),
    turnId: services.newId("turn"),
    text,
    model: `${provider.name}/${model}`,
    allow: options.allow,
    yolo: options.yolo,
    attended: [...session.listeners.values()].some((listener) => listener.attended),
  };
  const said = await commandSession(session, wanted, receipts);
  if (!said.ok) return said;
  const spoke = said.value.find((event) => event.body.case === "userSpoke");
  // A command's or a hook's words are not the person's: what they say of the person would stand in every prompt to come.
  if (spoke !== undefined && text === options.text) services.profile?.heard({ sessionId: state.id, seq: spoke.seq });
  parts.start(session);
  const started = said.value.some((event) => event.body.case === "turnStarted");
  const turnId = started ? wanted.turnId : (session.writer.state().turn?.id ?? wanted.turnId);
  return ok({ turnId, seq: spoke?.seq ?? 0, steered: !started, shown: "" });
}
