import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fail, ok, type Result } from "../../core/domain/failure.ts";
import { isJsonObject } from "../../core/domain/json-object.ts";
import { oneByOne } from "../../core/domain/one-by-one.ts";

const KEY_LIMIT_CHARS = 64;
const VALUE_LIMIT_BYTES = 64 * 1024;
const MAX_KEYS = 32;

/** Files of the house, one a plugin, readable for their owner alone: no journal ever holds what stands in them. */
export type Secrets = {
  /** Undefined for one that is not there. */
  get(plugin: string, key: string): Promise<Result<string | undefined>>;
  /** Durable when it resolves; an empty value takes it out. `exhausted` beyond 32 keys of 64 KiB each. */
  set(plugin: string, key: string, value: string): Promise<Result<void>>;
  /** Everything of one plugin that is worth hiding in its log. */
  texts(plugin: string): Promise<readonly string[]>;
  clear(plugin: string): Promise<Result<void>>;
};

export function openSecrets(dir: string): Secrets {
  const fileOf = (plugin: string) => join(dir, `${plugin}.json`);
  /** Two keys of one file must not lose each other. */
  const inTurn = oneByOne();

  async function read(plugin: string): Promise<Result<ReadonlyMap<string, string>>> {
    const file = fileOf(plugin);
    try {
      const json: unknown = JSON.parse(await readFile(file, "utf8"));
      if (!isJsonObject(json))
        return fail("corrupt", `${file} holds no secrets`, { hint: "remove it and log in again" });
      const texts = Object.entries(json).flatMap(([key, value]) =>
        typeof value === "string" ? [[key, value] as const] : [],
      );
      return ok(new Map(texts));
    } catch (cause) {
      if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return ok(new Map());
      return fail("unavailable", `the secrets of plugin "${plugin}" cannot be read from ${file}`, {
        hint: "look at the file, or remove it and log in again",
        cause,
      });
    }
  }

  async function write(plugin: string, secrets: ReadonlyMap<string, string>): Promise<Result<void>> {
    const file = fileOf(plugin);
    try {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      await rm(`${file}.new`, { force: true });
      const handle = await open(`${file}.new`, "wx", 0o600);
      try {
        await handle.writeFile(JSON.stringify(Object.fromEntries(secrets)));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(`${file}.new`, file);
      return ok(undefined);
    } catch (cause) {
      const message = `the secrets of plugin "${plugin}" cannot be written to ${file}`;
      return fail("unavailable", message, { hint: "look at the free space and at the rights of its folder", cause });
    }
  }

  return {
    async get(plugin, key) {
      const there = await inTurn(() => read(plugin));
      return there.ok ? ok(there.value.get(key)) : there;
    },
    set(plugin, key, value) {
      if (key === "" || key.length > KEY_LIMIT_CHARS)
        return Promise.resolve(
          fail("invalid", `a secret's key has 1 to ${KEY_LIMIT_CHARS} characters, not ${key.length}`),
        );
      if (Buffer.byteLength(value) > VALUE_LIMIT_BYTES)
        return Promise.resolve(fail("exhausted", `a secret has at most ${VALUE_LIMIT_BYTES / 1024} KiB`));
      return inTurn(async () => {
        const there = await read(plugin);
        if (!there.ok) return there;
        const next = new Map(there.value);
        if (value === "") next.delete(key);
        else next.set(key, value);
        if (next.size > MAX_KEYS) return fail("exhausted", `a plugin keeps at most ${MAX_KEYS} secrets`);
        return write(plugin, next);
      });
    },
    async texts(plugin) {
      const there = await inTurn(() => read(plugin));
      return there.ok ? [...there.value.values()].flatMap(secretTexts) : [];
    },
    clear: (plugin) =>
      inTurn(async () => {
        try {
          await rm(fileOf(plugin), { force: true });
          return ok(undefined);
        } catch (cause) {
          return fail("unavailable", `${fileOf(plugin)} cannot be removed`, {
            hint: "look at its folder's rights",
            cause,
          });
        }
      }),
  };
}

const TELLING_NAME = /token|secret|verifier|password/i;

/** What of a secret must not be shown: all of it, and, where it is JSON, every text whose name tells. */
export function secretTexts(value: string): readonly string[] {
  const found = [value];
  try {
    const json: unknown = JSON.parse(value);
    if (!isJsonObject(json)) return found;
    for (const [name, text] of Object.entries(json)) {
      if (typeof text === "string" && TELLING_NAME.test(name)) found.push(text);
    }
  } catch {
    // No JSON: a text like any other.
  }
  return found;
}
