import type { Journal } from "../domain/journal.ts";
import type { ProfileAdmin, TurnProfile } from "../domain/profile.ts";
import type { ProviderCatalog } from "../domain/provider.ts";
import { openProfileBook } from "../memory/profile/profile-book.ts";
import { profileLearner } from "../memory/profile/profile-learner.ts";
import type { ProfileConfig } from "./profile-settings.ts";
import type { Surroundings } from "./surroundings.ts";

/** How long an orderly end waits for what is being learned, milliseconds. */
const CLOSE_LIMIT_MS = 10_000;

export type ProfileRoom = {
  /** Undefined when config.toml does not turn it on: then nobody is asked, and no model is told. */
  readonly turns: TurnProfile | undefined;
  /** Works in any case: what was learned before can be seen and deleted. */
  readonly admin: ProfileAdmin;
  close(): Promise<void>;
};

export function openProfileRoom(
  config: ProfileConfig,
  { journal, providers }: { readonly journal: Journal; readonly providers: ProviderCatalog },
  { log, complain }: Pick<Surroundings, "log" | "complain">,
): ProfileRoom {
  const book = openProfileBook(journal);
  const { enabled, cadence } = config;
  const learner = enabled ? profileLearner({ book, journal, providers, cadence, log, complain }) : undefined;
  return {
    turns: learner,
    admin: {
      async show() {
        const read = await book.moment();
        if (!read.ok) return read;
        const { latest: version, heard, learned } = read.value;
        return { ok: true, value: { enabled, version, waiting: heard - learned } };
      },
      history: (limit) => book.history(limit),
      remove: () => book.remove(),
    },
    close: async () => learner?.close(CLOSE_LIMIT_MS),
  };
}
