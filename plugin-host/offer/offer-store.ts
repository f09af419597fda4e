import { readFileSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import type { OfferedCommand, OfferedTool } from "./offered-tools.ts";

const OFFER_VERSION = 1;
/** Names whose definition is remembered, those of tools that are gone included. */
const MAX_SETTLED = 4_096;

/** What a plugin offered when it ran last. */
export type StoredOffer = {
  readonly tools: readonly OfferedTool[];
  readonly commands: readonly OfferedCommand[];
  /** By name: the definition that was seen first, or that a person said yes to since. Also of tools that are gone. */
  readonly settled: ReadonlyMap<string, string>;
};

/** Files of the house, one a plugin, out of every plugin's reach. Without one a plugin is asked again. */
export type OfferStore = {
  /** Undefined when there is none that can be read. */
  read(plugin: string): StoredOffer | undefined;
  write(plugin: string, offer: StoredOffer): Promise<Result<void>>;
  remove(plugin: string): Promise<void>;
};

export function openOfferStore(offersDir: string): OfferStore {
  const fileOf = (plugin: string) => join(offersDir, `${plugin}.json`);
  return {
    read(plugin) {
      try {
        return parseOffer(JSON.parse(readFileSync(fileOf(plugin), "utf8")));
      } catch {
        // Not there, or not ours any more: the plugin says it again at its next start.
        return undefined;
      }
    },
    async write(plugin, { tools, commands, settled }) {
      const file = fileOf(plugin);
      const kept = [...settled].slice(-MAX_SETTLED);
      const text = JSON.stringify({ offerVersion: OFFER_VERSION, tools, commands, settled: Object.fromEntries(kept) });
      try {
        await mkdir(offersDir, { recursive: true, mode: 0o700 });
        const handle = await open(`${file}.new`, "w", 0o600);
        try {
          await handle.writeFile(text);
          await handle.sync();
        } finally {
          await handle.close();
        }
        await rename(`${file}.new`, file);
        return ok(undefined);
      } catch (cause) {
        const message = `what plugin "${plugin}" offers cannot be written to ${file}`;
        return fail("unavailable", message, { hint: "look at the free space and at the rights of its folder", cause });
      }
    },
    async remove(plugin) {
      await rm(fileOf(plugin), { force: true });
    },
  };
}

function parseOffer(json: unknown): StoredOffer | undefined {
  if (!isJsonObject(json) || json.offerVersion !== OFFER_VERSION) return undefined;
  // Files of before there were commands have none.
  const { tools, commands = [], settled } = json;
  if (!Array.isArray(tools) || !Array.isArray(commands) || !isJsonObject(settled)) return undefined;
  const read = tools.flatMap((one) => (isOfferedTool(one) ? [one] : []));
  const editions = Object.entries(settled).flatMap(([name, edition]) =>
    typeof edition === "string" ? [[name, edition] as const] : [],
  );
  // Files of before there were arguments have none.
  const named = commands.flatMap((one) => {
    if (!isOfferedCommand(one)) return [];
    const { name, description, takes = [] } = one;
    return [{ name, description, takes }];
  });
  return { tools: read, commands: named, settled: new Map(editions) };
}

function isOfferedCommand(
  value: unknown,
): value is Omit<OfferedCommand, "takes"> & Partial<Pick<OfferedCommand, "takes">> {
  return (
    isJsonObject(value) &&
    typeof value.name === "string" &&
    typeof value.description === "string" &&
    (value.takes === undefined || Array.isArray(value.takes))
  );
}

function isOfferedTool(value: unknown): value is OfferedTool {
  return (
    isJsonObject(value) &&
    typeof value.name === "string" &&
    typeof value.description === "string" &&
    isJsonObject(value.input) &&
    (value.rerun === "safe" || value.rerun === "unsafe") &&
    typeof value.timeoutMs === "number"
  );
}
