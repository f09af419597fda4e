import type { Failure, FailureCode, Result } from "../../core/domain/failure.ts";
import type { Json } from "../guest/guest-protocol.ts";
import type { BrokerContext } from "./capabilities.ts";
import type { Admission, Wanted } from "./judge.ts";
import { done, type Outcome, type Refused, refuse } from "./outcome.ts";

/** The few values that a hook keeps. Limits are the store's own; a missing key gives undefined. */
export type HookStore = {
  get(key: string): Promise<Result<Json | undefined>>;
  set(key: string, value: Json): Promise<Result<void>>;
  delete(key: string): Promise<Result<void>>;
  list(prefix: string): Promise<Result<readonly string[]>>;
};

export type GuestHit = { readonly id: string; readonly path: string; readonly line: number; readonly text: string };

/** Long-term memory, as far as guests reach it. */
export type GuestMemory = {
  /** Best first. */
  search(query: string, limit: number, signal: AbortSignal): Promise<Result<readonly GuestHit[]>>;
  /** Resolves with the note's id when it is durable. */
  remember(text: string): Promise<Result<string>>;
};

export type PortDesk = {
  readonly context: BrokerContext;
  readonly principal: string;
  readonly store: HookStore | undefined;
  readonly memory: GuestMemory | undefined;
  admit(wanted: Wanted): Promise<Outcome<Admission>>;
  effect(): void;
};

const ERROR_NAMES: Readonly<Record<FailureCode, string>> = {
  invalid: "TypeError",
  not_found: "NotFound",
  conflict: "AlreadyExists",
  denied: "NotCapable",
  cancelled: "Interrupted",
  timed_out: "TimedOut",
  exhausted: "RangeError",
  unavailable: "Error",
  lost: "Error",
  corrupt: "Error",
};

/** A failure of one of our own ports: its sentence, without its cause. @param unavailable name for what could not be reached */
export function failureOutcome(failure: Failure, unavailable = "Error"): Refused {
  const name = failure.code === "unavailable" ? unavailable : ERROR_NAMES[failure.code];
  return refuse(name, failure.message);
}

function fromResult<T>(result: Result<T>): Outcome<T> {
  return result.ok ? done(result.value) : failureOutcome(result.failure);
}

export async function storeGet(desk: PortDesk, key: string): Promise<Outcome<Json>> {
  if (!desk.store) return noStore();
  const found = await desk.store.get(key);
  return found.ok ? done(found.value ?? null) : failureOutcome(found.failure);
}

export async function storeSet(desk: PortDesk, key: string, value: Json): Promise<Outcome<null>> {
  if (!desk.store) return noStore();
  desk.effect();
  return nothing(await desk.store.set(key, value));
}

export async function storeDelete(desk: PortDesk, key: string): Promise<Outcome<null>> {
  if (!desk.store) return noStore();
  desk.effect();
  return nothing(await desk.store.delete(key));
}

export async function storeList(desk: PortDesk, prefix: string): Promise<Outcome<string[]>> {
  if (!desk.store) return noStore();
  const found = await desk.store.list(prefix);
  return found.ok ? done([...found.value]) : failureOutcome(found.failure);
}

export async function memorySearch(
  desk: PortDesk,
  query: string,
  limit: number,
  signal: AbortSignal,
): Promise<Outcome<GuestHit[]>> {
  const { memory } = desk;
  if (!memory) return noMemory();
  const admitted = await admitPlain(desk, { permission: { kind: "memory", access: "query" }, named: "query" });
  if (!admitted.ok) return admitted;
  const found = await memory.search(query, limit, signal);
  if (!found.ok) return failureOutcome(found.failure);
  return done(found.value.map(({ id, path, line, text }) => ({ id, path, line, text })));
}

export async function memoryRemember(desk: PortDesk, text: string): Promise<Outcome<string>> {
  const { memory } = desk;
  if (!memory) return noMemory();
  const admitted = await admitPlain(desk, { permission: { kind: "memory", access: "write" }, named: "write" });
  if (!admitted.ok) return admitted;
  desk.effect();
  return fromResult(await memory.remember(text));
}

/** Runs a tool in the guest's name; that it may touch the tool does not yet mean that the call happens. */
export async function callTool(
  desk: PortDesk,
  word: string,
  args: { readonly [key: string]: Json },
): Promise<Outcome<string>> {
  const { tools } = desk.context;
  if (!tools) return refuse("NotSupported", "there are no tools here; only hooks in a conversation have them");
  // By its own name: an alias must not pass by what is said of the tool.
  const tool = tools.toolName(word);
  const admitted = await admitPlain(desk, { permission: { kind: "tool", name: tool }, named: tool });
  if (!admitted.ok) return admitted;
  desk.effect();
  return fromResult(await tools.callTool(desk.principal, tool, args as Parameters<typeof tools.callTool>[2]));
}

/** For what leads nowhere but to itself: judged and recorded in one. */
async function admitPlain(
  desk: PortDesk,
  { permission, named }: Pick<Wanted, "permission" | "named">,
): Promise<Outcome<null>> {
  const admitted = await desk.admit({ permission, named, ground: async () => [permission] });
  return admitted.ok ? admitted.value.allow("") : admitted;
}

function nothing(result: Result<void>): Outcome<null> {
  return result.ok ? done(null) : failureOutcome(result.failure);
}

function noStore(): Refused {
  return refuse("NotSupported", "there is no store here; only hooks have one");
}

function noMemory(): Refused {
  return refuse("NotSupported", "there is no memory here; only hooks reach it");
}
