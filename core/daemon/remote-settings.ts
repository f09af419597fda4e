import type { RemoteSettings } from "../../plugin-host/remote/remote-plugins.ts";
import { readAddress } from "../../plugin-host/remote/token.ts";

/** The keys of [remote] in config.toml, with their kinds. */
export const REMOTE_KEYS = {
  "remote.listen": "string",
  "remote.address": "string",
  "remote.certificate_days": "number",
} as const;

const DAY_MS = 24 * 60 * 60_000;
const CERTIFICATE_DAYS = 30;
const LONGEST_CERTIFICATE_DAYS = 365;

type Values = ReadonlyMap<string, unknown>;

/** What is wrong with them; undefined when nothing is. */
export function checkRemoteValues(values: Values): { readonly key: string; readonly what: string } | undefined {
  for (const key of ["remote.listen", "remote.address"]) {
    const value = String(values.get(key) ?? "");
    if (value !== "" && !readAddress(value).ok) {
      return { key, what: `must be "HOST:PORT", not ${JSON.stringify(value)}` };
    }
  }
  const days = values.get("remote.certificate_days");
  if (typeof days === "number" && (days < 1 || days > LONGEST_CERTIFICATE_DAYS)) {
    return { key: "remote.certificate_days", what: `must be from 1 to ${LONGEST_CERTIFICATE_DAYS}, not ${days}` };
  }
  return undefined;
}

export function remoteSettingsFrom(values: Values): RemoteSettings {
  return {
    listen: String(values.get("remote.listen") ?? ""),
    address: String(values.get("remote.address") ?? ""),
    certificateMs: Number(values.get("remote.certificate_days") ?? CERTIFICATE_DAYS) * DAY_MS,
  };
}
