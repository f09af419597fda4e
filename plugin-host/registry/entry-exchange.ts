import { fail, ok, type Result } from "../../core/domain/failure.ts";
import type { Entry } from "./entry.ts";
import type { EntryTable } from "./entry-table.ts";
import type { LifeParts } from "./life-parts.ts";
import { reconfigure } from "./reconfigure.ts";

/** Stops a plugin at once and reads its files again; undefined when they are gone. */
export async function refreshEntry(table: EntryTable, name: string, reason: string): Promise<Entry | undefined> {
  const before = table.find(name);
  const next = table.readAgain(name);
  if (before?.live.ok) {
    const { supervisor } = before.live.value;
    const goesOn = next?.live.ok && next.live.value.supervisor === supervisor;
    await (goesOn ? supervisor.replaceAtOnce(next.live.value.generation, reason) : supervisor.close(reason));
  }
  return table.put(name, next);
}

/** Lets what its files say now take the place of what runs, without a call failing by that; see `Registry.swap`. */
export async function swapEntry(
  table: EntryTable,
  { settings, inForce }: Pick<LifeParts, "settings" | "inForce">,
  name: string,
  reason: string,
): Promise<Result<Entry>> {
  const before = table.find(name);
  const next = table.readAgain(name);
  const isRunning = before?.live.ok === true && before.live.value.supervisor.state().is === "ready";
  if (next === undefined || !next.live.ok) {
    if (!isRunning || next === undefined) await refreshEntry(table, name, reason);
    if (next?.live.ok === false) return next.live;
    return fail("not_found", `there is no plugin "${name}"`, { hint: "claw plugin list" });
  }
  // Turned off, it is to run no longer.
  if (!next.live.value.grant.enabled) return ok((await refreshEntry(table, name, reason)) ?? next);
  if (before?.live.ok && before.live.value.supervisor === next.live.value.supervisor) {
    const { supervisor, generation } = next.live.value;
    const configured = await reconfigure(before.live.value, next.live.value, settings, inForce);
    if (!configured.ok) return configured;
    const replaced = configured.value ? ok(undefined) : await supervisor.replace(generation, reason);
    if (!replaced.ok) return replaced;
  }
  table.put(name, next);
  return ok(next);
}
