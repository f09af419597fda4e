import { randomBytes } from "node:crypto";

/** What must never be seen where it was not granted. */
export const CANARIES = ["file", "env", "session", "store", "net", "memory"] as const;
export type Canary = (typeof CANARIES)[number];

/** Texts that exist nowhere else, new in each run. */
export function mintCanaries(): Readonly<Record<Canary, string>> {
  const mint = (name: Canary) => `canary-${name}-${randomBytes(12).toString("hex")}`;
  return Object.fromEntries(CANARIES.map((name) => [name, mint(name)])) as Record<Canary, string>;
}

/** Which canaries a text holds, also reversed, as hex or as base64 from any place on. */
export function findCanaries(text: string, canaries: Readonly<Record<Canary, string>>): readonly Canary[] {
  return CANARIES.filter((name) => shapesOf(canaries[name]).some((shape) => text.includes(shape)));
}

function shapesOf(canary: string): readonly string[] {
  const inBase64 = [0, 1, 2].map((before) => {
    // The first and the last letters depend on what stands beside it.
    const coded = Buffer.from(" ".repeat(before) + canary).toString("base64");
    return coded.slice(4, -4);
  });
  return [canary, [...canary].reverse().join(""), Buffer.from(canary).toString("hex"), ...inBase64];
}
