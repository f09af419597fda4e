import { seededBelow } from "../kit/seeded.ts";

/** Makes of a good message one that nobody should say; the same ones for the same seed. */
export type Mutator = (message: unknown) => Buffer;

const NEWLINE = Buffer.from("\n");
/** Raw JSON in place of a value; some of it is none. */
const VALUES = [
  ...[
    "null",
    "true",
    "-0",
    "1e308",
    "1e999",
    "9007199254740993",
    "-1",
    "0.1",
    '""',
    '"\\ud800"',
    '"\\u0000"',
    "[]",
    "{}",
  ],
  ...[
    '{"__proto__":{"isError":true}}',
    '{"constructor":{"prototype":{}}}',
    '{"toString":1,"then":1,"toJSON":2}',
    "NaN",
    "undefined",
  ],
  ...[
    `"${"x".repeat(20_000)}"`,
    `[${"1,".repeat(2_000)}1]`,
    `${"[".repeat(3_000)}${"]".repeat(3_000)}`,
    '{"a":'.repeat(1_500),
  ],
];
const KEYS = [
  "__proto__",
  "constructor",
  "toString",
  "id",
  "method",
  "result",
  "error",
  "params",
  "jsonrpc",
  "_meta",
  "then",
  "",
];

/** Each is told what to cut and puts together raw JSON: values that no object of ours could hold. */
export function openMutator(seed: number): Mutator {
  const below = seededBelow(seed);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;

  /** The text of a value in which one place, chosen by chance, is another. */
  function bend(value: unknown, depth = 0): string {
    if (below(4) === 0 || depth > 6) return pick(VALUES);
    if (Array.isArray(value)) {
      const bent = below(Math.max(1, value.length));
      const texts = value.map((one, at) => (at === bent ? bend(one, depth + 1) : JSON.stringify(one)));
      return `[${below(5) === 0 ? [...texts, ...texts].join() : texts.join()}]`;
    }
    if (typeof value !== "object" || value === null) return pick(VALUES);
    const entries = Object.entries(value);
    const bent = below(Math.max(1, entries.length));
    const texts = entries.flatMap(([key, one], at) => {
      if (at !== bent) return [`${JSON.stringify(key)}:${JSON.stringify(one)}`];
      const changed = `${JSON.stringify(key)}:${bend(one, depth + 1)}`;
      switch (below(6)) {
        case 0:
          return [];
        case 1:
          // Twice the same key.
          return [changed, `${JSON.stringify(key)}:${pick(VALUES)}`];
        case 2:
          return [`${JSON.stringify(pick(KEYS))}:${JSON.stringify(one)}`];
        default:
          return [changed];
      }
    });
    return `{${texts.join()}}`;
  }

  function scratch(bytes: Buffer): Buffer {
    const scratched = Buffer.from(bytes);
    for (let change = 0; change <= below(4); change += 1) scratched[below(scratched.byteLength)] = below(256);
    return scratched;
  }

  return (message) => {
    const good = Buffer.from(JSON.stringify(message));
    switch (below(8)) {
      case 0:
        return Buffer.concat([scratch(good), NEWLINE]);
      case 1:
        return Buffer.concat([good.subarray(0, below(good.byteLength)), NEWLINE]);
      case 2:
        // Twice, with one id.
        return Buffer.concat([good, NEWLINE, good, NEWLINE]);
      case 3:
        return Buffer.concat([Buffer.from(`[${good},${bend(message)}]`), NEWLINE]);
      case 4:
        return Buffer.concat([
          Buffer.from(pick(["\uFEFF", "\r", "\0", " ", "Content-Length: 7\r\n\r\n"])),
          good,
          NEWLINE,
        ]);
      default:
        return Buffer.concat([Buffer.from(bend(message)), NEWLINE]);
    }
  };
}
