import type { OfferNews, Tool } from "../../core/domain/tool.ts";
import type { Entry } from "./entry.ts";

/** The tools of all plugins as one list, which stays the same one until something changes. */
export type ToolList = {
  tools(): readonly Tool[];
  /** The list is to be made anew, and whoever shows it hears so. */
  forget(): void;
  readonly news: OfferNews;
};

export function toolList(entries: () => readonly Entry[]): ToolList {
  let made: readonly Tool[] | undefined;
  const listeners = new Set<() => void>();
  return {
    tools() {
      made ??= entries().flatMap(({ live }) => (live.ok && live.value.grant.enabled ? live.value.tools() : []));
      return made;
    },
    forget() {
      made = undefined;
      for (const changed of listeners) changed();
    },
    news(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
  };
}
