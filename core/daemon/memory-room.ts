import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Launcher } from "../../sandbox/os/launcher.ts";
import type { DocumentSources } from "../domain/document-source.ts";
import type { Failure } from "../domain/failure.ts";
import type { Journal } from "../domain/journal.ts";
import { chooseEmbedder, type EmbedderChoice, type PluginEmbedders } from "../memory/embed/choose-embedder.ts";
import { type OpenMemory, openMemory } from "../memory/memory.ts";
import { createPdfReader, type PdfReader } from "../memory/source/pdf-text.ts";
import { type MemoryPool, memoryPool } from "../memory/worker/memory-pool.ts";
import type { Home } from "./home.ts";
import { embedderWish, type MemoryConfig, tellEmbedder } from "./memory-settings.ts";
import { pdfLaunch } from "./pdf-launch.ts";
import type { Surroundings } from "./surroundings.ts";

/** What plugins offer to memory. They open after it, since they may ask it. */
export type MemoryOffers = { readonly embedders: PluginEmbedders; readonly sources: DocumentSources };

export type MemoryRoom = {
  readonly memory: OpenMemory;
  readonly pool: MemoryPool;
  readonly pdf: PdfReader;
  /** The embedder of this moment. */
  readonly embedder: () => EmbedderChoice;
  /** Hands over what plugins offer, and writes into the log who makes vectors. */
  furnish(offers: MemoryOffers): void;
  /** Why there are no vectors, or fewer than there could be. */
  problems(): readonly Failure[];
  close(): Promise<void>;
};

/** Opens memory. No thread, no process and no database starts before somebody needs it. */
export function openMemoryRoom(
  { home, around, config }: { readonly home: Home; readonly around: Surroundings; readonly config: MemoryConfig },
  { journal, launcher }: { readonly journal: Journal; readonly launcher: Launcher },
  newId: () => string,
): MemoryRoom {
  const { programs, nodeBinary, now, ticks, complain } = around;
  let offers: MemoryOffers = { embedders: () => [], sources: () => [] };
  const wish = embedderWish(config, around.env);
  const embedder = chooseEmbedder(wish, () => offers.embedders());
  const pool = memoryPool(join(programs, "memory-worker.js"));
  const pdf = createPdfReader({ launch: pdfLaunch(launcher, nodeBinary, join(programs, "pdf-process.js")) });
  const settings = { ...config, conversations: config.enabled && config.conversations };
  const memory = openMemory({
    ...{ dir: home.memory, dataDir: home.dir, pool, journal, settings, embedder, newId },
    ...{ now, ticks, random: () => randomBytes(4).readUInt32BE() / 2 ** 32, complain },
    readPdf: (file, signal) => pdf.read(file, file, signal),
    sources: () => offers.sources(),
  });
  return {
    ...{ memory, pool, pdf, embedder },
    furnish(given) {
      offers = given;
      if (config.enabled) around.log(tellEmbedder(embedder(), wish));
    },
    problems() {
      if (!config.enabled) return [];
      const choice = embedder();
      const unmet = choice.kind === "none" ? choice.problem : undefined;
      const stuck = memory.vectorProblem();
      const hint = "searching goes on by words; it is tried again by itself";
      return [
        ...(unmet === undefined ? [] : [unmet]),
        ...memory.indexProblems(),
        ...(stuck === undefined
          ? []
          : [{ code: "unavailable", message: `memory gets no vectors: ${stuck}`, hint } as const]),
      ];
    },
    async close() {
      await memory.close();
      await pool.close();
    },
  };
}
