import { decide } from "../domain/decide.ts";
import type { EventBody } from "../domain/event.ts";
import { ok, type Result } from "../domain/failure.ts";
import type { Journal } from "../domain/journal.ts";
import { emptySession } from "../domain/session.ts";
import { hearOpening, type Opening } from "./hear-opening.ts";
import { forkBodies } from "./read-session.ts";
import type { TurnServices } from "./turn/turn-context.ts";

export type BeginParts = {
  readonly journal: Journal;
  readonly services: TurnServices;
  /** Aborts when nothing may begin any more. */
  readonly stopping: AbortSignal;
};

/** Begins an empty session and gives its id. `model` is empty for whoever answers by default. */
export async function openSession(parts: BeginParts, workspace: string, model: string): Promise<Result<string>> {
  const { services } = parts;
  if (model !== "") {
    const resolved = services.providers.resolve(model);
    if (!resolved.ok) return resolved;
  }
  const sessionId = services.newId("session");
  const decided = decide(emptySession(sessionId), { kind: "open", sessionId, workspace, model });
  if (!decided.ok) return decided;
  return begin(parts, { sessionId, workspace, model }, decided.value);
}

/** Begins a session with the events of another up to `atSeq`, 0 for all. */
export async function forkSession(parts: BeginParts, id: string, atSeq: number): Promise<Result<string>> {
  const sessionId = parts.services.newId("session");
  const bodies = await forkBodies(parts.journal, id, sessionId, atSeq);
  if (!bodies.ok) return bodies;
  const [opened] = bodies.value;
  const { workspace = "", model = "" } = opened?.case === "sessionOpened" ? opened.value : {};
  return begin(parts, { sessionId, workspace, model }, bodies.value);
}

async function begin(
  { journal, services, stopping }: BeginParts,
  opening: Opening,
  bodies: readonly EventBody[],
): Promise<Result<string>> {
  const { sessionId } = opening;
  const heard = await hearOpening(services, opening, stopping);
  if (!heard.ok) return heard;
  const created = await journal.create(sessionId);
  if (!created.ok) return created;
  const appended = await journal.append(sessionId, 0, [...bodies, ...heard.value]);
  if (appended.ok) return ok(sessionId);
  // A journal that holds nothing is no session: a full disk must not leave one behind at every try.
  await journal.remove(sessionId);
  return appended;
}
