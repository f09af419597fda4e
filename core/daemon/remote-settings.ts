import type { RemoteSettings } from "../../plugin-host/remote/remote-plugins.ts";
import { readAddress } from "../../plugin-host/remote/token.ts";
import { numberOf, type Section, textOf } from "./section.ts";

const DAY_MS = 24 * 60 * 60_000;
const CERTIFICATE_DAYS = 30;
const LONGEST_CERTIFICATE_DAYS = 365;

/** [remote]. */
export const REMOTE_SECTION: Section<RemoteSettings> = {
  keys: { "remote.listen": "string", "remote.address": "string", "remote.certificate_days": "number" },
  check(values) {
    for (const key of ["remote.listen", "remote.address"]) {
      const value = textOf(values, key);
      if (value !== "" && !readAddress(value).ok) {
        return { key, what: `must be "HOST:PORT", not ${JSON.stringify(value)}` };
      }
    }
    const days = values.get("remote.certificate_days");
    if (typeof days === "number" && (days < 1 || days > LONGEST_CERTIFICATE_DAYS)) {
      return { key: "remote.certificate_days", what: `must be from 1 to ${LONGEST_CERTIFICATE_DAYS}, not ${days}` };
    }
    return undefined;
  },
  read: (values) => ({
    listen: textOf(values, "remote.listen"),
    address: textOf(values, "remote.address"),
    certificateMs: numberOf(values, "remote.certificate_days", CERTIFICATE_DAYS) * DAY_MS,
  }),
};
