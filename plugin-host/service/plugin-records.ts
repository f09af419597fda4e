import type { JsonValue } from "@bufbuild/protobuf";
import { decisionEvent } from "../../core/domain/decision-event.ts";
import type { EventBody } from "../../core/domain/event.ts";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { Journal } from "../../core/domain/journal.ts";
import { checkEntry, type KeyValueStores, keepEntry, listKeys, readEntry } from "../../core/domain/key-value-store.ts";
import { openLedger } from "../../core/domain/ledger.ts";
import type { PermissionDecision } from "../../core/domain/permission-decision.ts";
import { countGeneration, dayOf, type GenerationBudgets, usedTokens } from "./generation-budget.ts";

/** The journal of what people did with plugins, how they died, and what they keep; reserved, no session has this id. */
export const PLUGINS_JOURNAL = "plugins";

export type PluginChange = Extract<EventBody, { case: "pluginChanged" }>["value"];
export type PluginDeath = Extract<EventBody, { case: "pluginDied" }>["value"];

/** Words of a model that a plugin wants. */
export type GenerationWanted = {
  readonly plugin: string;
  readonly generationId: string;
  readonly sessionId: string;
  readonly callId: string;
  readonly tokensPerDay: number;
  /** The most tokens that the prompt can be. */
  readonly promptTokens: number;
  readonly maxTokens: number;
  readonly atMs: number;
};

/** What was set aside for them: `maxTokens` is what the answer may be. */
export type GenerationBegun = GenerationWanted & { readonly day: string };

/** What is kept of plugins beyond a conversation. Everything is durable before it is answered. */
export type PluginRecords = {
  /** What a person did with a plugin. */
  changed(change: PluginChange): Promise<Result<void>>;
  /** The end of a process that nobody wanted. */
  died(death: PluginDeath): Promise<Result<void>>;
  /** A decision about a permission outside every session. */
  decided(decision: PermissionDecision): Promise<Result<void>>;
  /** Undefined for a key that is not there. */
  get(plugin: string, key: string): Promise<Result<JsonValue | undefined>>;
  /** `exhausted` at the limits of a store; nothing is changed then. */
  set(plugin: string, key: string, value: JsonValue): Promise<Result<void>>;
  delete(plugin: string, key: string): Promise<Result<void>>;
  /** Keys with a beginning, in their order. */
  list(plugin: string, prefix: string): Promise<Result<readonly string[]>>;
  /** Empties a plugin's store. */
  clear(plugin: string): Promise<Result<void>>;
  /** Sets aside what words of a model may take of the day's budget, the answer's part as far as it reaches; else `exhausted`. */
  beginGeneration(wanted: GenerationWanted): Promise<Result<GenerationBegun>>;
  /** Counts what they took, all that was set aside where nobody knows; gives that and what is left of the day. */
  endGeneration(begun: GenerationBegun, tokens: number | undefined): Promise<Result<GenerationEnd>>;
  /** What is left of a day's budget; `exhausted` when no words could be had for it. */
  checkGeneration(wanted: Omit<GenerationWanted, "generationId">): Promise<Result<number>>;
};

export type GenerationEnd = { readonly tokens: number; readonly left: number };

/** Reads the journal at its first use. */
export function openPluginRecords(journal: Journal): PluginRecords {
  const begin = (): Kept => ({ stores: new Map(), budgets: new Map() });
  const { read, append, work } = openLedger({ journal, id: PLUGINS_JOURNAL, begin, apply });
  const stored = (plugin: string, key: string, value?: string): EventBody => ({
    case: "pluginStored",
    value: { plugin, key, ...(value === undefined ? {} : { value }) },
  });
  return {
    changed: (value) => append({ case: "pluginChanged", value }),
    died: (value) => append({ case: "pluginDied", value }),
    decided: (decision) => append(decisionEvent(decision, "", "")),
    get: (plugin, key) => read(({ stores }) => readEntry(stores, plugin, key)),
    set(plugin, key, value) {
      // Here, and not in its turn: what breaks breaks for nobody else.
      const json = JSON.stringify(value);
      return work<void>(({ stores }) => {
        const wrong = checkEntry(stores, plugin, key, json);
        return wrong ?? ok({ bodies: [stored(plugin, key, json)], value: undefined });
      });
    },
    delete: (plugin, key) =>
      work<void>(({ stores }) => {
        const there = stores.get(plugin)?.values.has(key) === true;
        return ok({ bodies: there ? [stored(plugin, key)] : [], value: undefined });
      }),
    list: (plugin, prefix) => read(({ stores }) => listKeys(stores, plugin, prefix)),
    clear: (plugin) =>
      work<void>(({ stores }) => {
        const bodies = listKeys(stores, plugin, "").map((key) => stored(plugin, key));
        return ok({ bodies, value: undefined });
      }),
    checkGeneration: (wanted) =>
      work(({ budgets }) => {
        const left = leftFor(budgets, wanted);
        return left.ok ? ok({ bodies: [], value: left.value.answerTokens }) : left;
      }),
    beginGeneration: (wanted) =>
      work(({ budgets }) => {
        const left = leftFor(budgets, wanted);
        if (!left.ok) return left;
        const begun = { ...wanted, ...left.value, maxTokens: Math.min(wanted.maxTokens, left.value.answerTokens) };
        return ok({ bodies: [generated(begun, begun.promptTokens + begun.maxTokens, false)], value: begun });
      }),
    endGeneration(begun, counted) {
      const { plugin, day, tokensPerDay, promptTokens, maxTokens } = begun;
      const tokens = counted ?? promptTokens + maxTokens;
      const body = generated(begun, tokens, true);
      return work(({ budgets }) => {
        const before = usedTokens(budgets, plugin, day) - promptTokens - maxTokens;
        return ok({
          bodies: [body],
          value: { tokens, left: Math.max(0, tokensPerDay - Math.max(0, before) - tokens) },
        });
      });
    },
  };
}

type Kept = { readonly stores: KeyValueStores; readonly budgets: GenerationBudgets };

function generated(
  { plugin, generationId, sessionId, callId, day }: GenerationBegun,
  tokens: number,
  ended: boolean,
): EventBody {
  return { case: "pluginGenerated", value: { plugin, generationId, sessionId, callId, day, tokens, ended } };
}

/** What an answer may be after the prompt. */
function leftFor(
  budgets: GenerationBudgets,
  { plugin, tokensPerDay, promptTokens, atMs }: Omit<GenerationWanted, "generationId">,
): Result<{ readonly day: string; readonly answerTokens: number }> {
  const day = dayOf(budgets, plugin, atMs);
  const left = tokensPerDay - usedTokens(budgets, plugin, day);
  if (left > promptTokens) return ok({ day, answerTokens: left - promptTokens });
  const message = `${Math.max(0, left)} of the ${tokensPerDay} tokens a day of plugin "${plugin}" are left, and the prompt may take ${promptTokens}`;
  return fail("exhausted", message, { hint: "the next day begins at midnight by UTC" });
}

function apply({ stores, budgets }: Kept, body: EventBody): void {
  if (body.case === "pluginGenerated") countGeneration(budgets, body.value);
  if (body.case !== "pluginStored") return;
  const { plugin = "", key = "", value } = body.value;
  keepEntry(stores, plugin, key, value);
}
