import { ok } from "../../core/domain/failure.ts";
import type { LogRing } from "../link/log-ring.ts";
import type { HostMethods } from "./host-method.ts";
import { type Secrets, secretTexts } from "./secrets.ts";

/** The plugin's own secrets; no other plugin sees them, and no permission is needed. */
export function secretMethods(plugin: string, secrets: Secrets, log: LogRing): HostMethods<"getSecret" | "setSecret"> {
  return {
    async getSecret({ key }) {
      const found = await secrets.get(plugin, key);
      if (!found.ok) return found;
      return ok(found.value === undefined ? { found: false } : { found: true, value: found.value });
    },
    async setSecret({ key, value }) {
      // Hidden before it is kept, and for as long as the daemon runs: an old one may still be good elsewhere.
      log.redact(secretTexts(value));
      const kept = await secrets.set(plugin, key, value);
      return kept.ok ? ok({}) : kept;
    },
  };
}
