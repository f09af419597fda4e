import type { EventBody } from "../../domain/event.ts";
import { ok, type Result } from "../../domain/failure.ts";
import { buildPrompt, lastWords, systemOf } from "../../domain/prompt.ts";
import type { Prompt } from "../../domain/provider.ts";
import type { Tool } from "../../domain/tool.ts";
import { chooseTools } from "./choose-tools.ts";
import { fireHooks } from "./fire-hooks.ts";
import { recallMemory } from "./recall-memory.ts";
import { stoppedBy } from "./receipts.ts";
import { clip } from "./run-tool.ts";
import { showProfile } from "./show-profile.ts";
import type { TurnContext } from "./turn-context.ts";

/** The model call that is about to be made. */
export type Step = { readonly step: number; readonly providerName: string; readonly model: string };

/**
 * What the model is asked, after the profile, memory, the choice of tools and the hooks of `context.build` (once a turn), and those of `model.before`. What
 * they changed is on its way to the journal first, and the prompt is made of the session alone: a restart makes the same one.
 */
export async function preparePrompt(
  turn: TurnContext,
  tools: readonly Tool[],
  { step, providerName, model }: Step,
): Promise<Result<Prompt>> {
  const shown = await showProfile(turn);
  if (!shown.ok) return shown;
  const [chosen] = await Promise.all([chooseTools(turn, tools, step), recallMemory(turn)]);
  if (chosen.length > 0) await turn.writer.post(chosen);
  await buildContext(turn);
  const judged = await judgePrompt(turn, tools, step, `${providerName}/${model}`);
  return judged.ok ? ok(buildPrompt(turn.writer.ahead(), tools, model)) : judged;
}

async function buildContext(turn: TurnContext): Promise<void> {
  const { writer, turnId, limits } = turn;
  const session = writer.ahead();
  if (session.turn === undefined || session.turn.contextHeard) return;
  const value = { text: lastWords(session), context: "" };
  const { answer, bodies } = await fireHooks(turn, { at: "context.build", value });
  const context = answer.do === "modify" ? answer.value.context : "";
  if (typeof context !== "string" || context === "") return writer.hold(bodies);
  const built = { turnId, step: 0, context: clip(context, limits.outputChars) };
  await writer.post([{ case: "contextBuilt", value: built }, ...bodies]);
}

async function judgePrompt(
  turn: TurnContext,
  tools: readonly Tool[],
  step: number,
  model: string,
): Promise<Result<void>> {
  const { writer, turnId, limits } = turn;
  const session = writer.ahead();
  const before = { system: systemOf(session, tools), context: session.turn?.context ?? "" };
  const fired = await fireHooks(turn, { at: "model.before", value: { model, step, ...before } });
  const { answer, bodies } = fired;
  const stopped = stoppedBy(fired, "model.before");
  if (stopped !== undefined || answer.do !== "modify") {
    writer.hold(bodies);
    return stopped === undefined ? ok(undefined) : { ok: false, failure: stopped };
  }
  const { system, context } = { ...before, ...answer.value };
  const built: EventBody = {
    case: "contextBuilt",
    value: {
      turnId,
      step,
      context: typeof context === "string" ? clip(context, limits.outputChars) : before.context,
      ...(typeof system === "string" && system !== before.system ? { system } : {}),
    },
  };
  await writer.post([built, ...bodies]);
  return ok(undefined);
}
