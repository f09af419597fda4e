/** What [profile] of config.toml says, checked. Every key is described in docs/config.md. */
export type ProfileConfig = {
  readonly enabled: boolean;
  /** After how many messages of the person there is something to learn. */
  readonly cadence: number;
};

type Value = string | number | boolean | readonly string[];

/** Every key of [profile], with its kind. */
export const PROFILE_KEYS: Readonly<Record<string, "boolean" | "number">> = {
  "profile.enabled": "boolean",
  "profile.cadence": "number",
};

const CADENCE = 5;
/** Twice as many messages go into one lesson. */
const CADENCE_LIMIT = 100;

/** The first thing that is wrong with the values of [profile], in words that follow the key. */
export function checkProfileValues(values: ReadonlyMap<string, Value>): { key: string; what: string } | undefined {
  const cadence = values.get("profile.cadence");
  if (typeof cadence !== "number" || (cadence >= 1 && cadence <= CADENCE_LIMIT)) return undefined;
  return { key: "profile.cadence", what: `must be from 1 to ${CADENCE_LIMIT}, not ${cadence}` };
}

/** [profile] from values that were checked. */
export function profileConfigFrom(values: ReadonlyMap<string, Value>): ProfileConfig {
  return {
    enabled: values.get("profile.enabled") === true,
    cadence: Number(values.get("profile.cadence") ?? CADENCE),
  };
}
