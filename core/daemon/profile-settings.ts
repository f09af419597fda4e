import { numberOf, type Section } from "./section.ts";

/** What [profile] of config.toml says, checked. Every key is described in docs/config.md. */
export type ProfileConfig = {
  readonly enabled: boolean;
  /** After how many messages of the person there is something to learn. */
  readonly cadence: number;
};

const CADENCE = 5;
/** Twice as many messages go into one lesson. */
const CADENCE_LIMIT = 100;

/** [profile]. */
export const PROFILE_SECTION: Section<ProfileConfig> = {
  keys: { "profile.enabled": "boolean", "profile.cadence": "number" },
  check(values) {
    const cadence = values.get("profile.cadence");
    if (typeof cadence !== "number" || (cadence >= 1 && cadence <= CADENCE_LIMIT)) return undefined;
    return { key: "profile.cadence", what: `must be from 1 to ${CADENCE_LIMIT}, not ${cadence}` };
  },
  read: (values) => ({
    enabled: values.get("profile.enabled") === true,
    cadence: numberOf(values, "profile.cadence", CADENCE),
  }),
};
