import { expect, test } from "vitest";
import { check, covers, overlaps } from "./grant.ts";
import { type Grant, type Permission, parsePermission, printPermission } from "./permission.ts";
import { queryState, withAllow, withoutAllow } from "./permission-state.ts";

const ROUNDS = 3000;

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Few values that often meet: otherwise no two permissions would have to do with each other. */
const PATHS = ["/", "/a", "/a/b", "/a/b/c", "/a/bc", "/a,b", "/a\\", "/a\\,b", "/a b", "/a*", "/ a ", "/ü"];
const HOSTS = [
  ..."example.com a.example.com *.example.com *.a.example.com example.org localhost *.localhost 1.1.1.1 1.1.1.0/24".split(
    " ",
  ),
  ..."127.0.0.1 127.0.0.0/8 10.1.2.3 10.0.0.0/8 10.1.0.0/16 0.0.0.0/0 ::1 fd00::1 fc00::/7 ::/0 2000::/3".split(" "),
  ..."64:ff9b::a01:203 64:ff9b::/96 2002:a01:203::1 2606:4700::1 169.254.169.254".split(" "),
];
const NAMES = ["A", "AB", "ABC", "A*", "AB*", "B", "A_KEY", "A_TOKEN", "A_*"];

function generator(seed: number) {
  const random = seeded(seed);
  const pick = <T>(values: readonly T[]): T => {
    const picked = values[Math.floor(random() * values.length)];
    if (picked === undefined) throw new Error("nothing to pick from");
    return picked;
  };
  const maybe = <T extends object>(value: T): T | Record<never, never> => (random() < 0.8 ? value : {});

  function permission(): Permission {
    const kind = pick(["read", "write", "net", "net", "net", "env", "run", "sys", "tool", "memory"] as const);
    switch (kind) {
      case "read":
      case "write":
        return { kind, ...maybe({ path: pick(PATHS) }) };
      case "net":
        return { kind, ...maybe({ host: pick(HOSTS), ...(random() < 0.4 ? { port: pick([80, 443]) } : {}) }) };
      case "env":
      case "tool":
        return { kind, ...maybe({ name: pick(NAMES) }) };
      case "run":
        return { kind, ...maybe({ program: pick(["git", "ls", "/bin/ls", "/opt/a,b"]) }) };
      case "sys":
        return { kind, ...maybe({ api: pick(["hostname", "cpus", "uid"]) }) };
      case "memory":
        return {
          kind,
          ...maybe({
            access: pick(["query", "read", "write"] as const),
            ...(random() < 0.5 ? { namespace: pick(NAMES) } : {}),
          }),
        };
    }
  }
  const list = () => Array.from({ length: Math.floor(random() * 5) }, permission);
  const grant = (): Grant => ({ allow: list(), deny: list().slice(0, 2) });
  return { permission, grant, random };
}

function isOpen(grant: Grant, permission: Permission): boolean {
  return check(grant, permission).ok;
}

test("what is printed is read back as the same, and never as something else", () => {
  const { permission } = generator(1);
  for (let round = 0; round < ROUNDS; round += 1) {
    const one = permission();
    expect(parsePermission(printPermission(one), "/elsewhere")).toEqual({ ok: true, value: [one] });
  }
});

test("a path made of any characters is read back as itself, or not at all", () => {
  const { random } = generator(2);
  const letters = [..."/.\\, *~ab:=\t\n\"'%#?ü\u{1F600}"];
  for (let round = 0; round < ROUNDS; round += 1) {
    const path = `/${Array.from({ length: 6 }, () => letters[Math.floor(random() * letters.length)]).join("")}`;
    const checked = check({ allow: [{ kind: "read" }], deny: [] }, { kind: "read", path });
    if (!checked.ok) throw new Error(checked.message);
    const read = parsePermission(printPermission(checked.value), "/elsewhere");
    expect(read).toEqual({ ok: true, value: [checked.value] });
  }
});

test("a deny more never widens, an allow more never narrows", () => {
  const { permission, grant } = generator(3);
  for (let round = 0; round < ROUNDS; round += 1) {
    const [before, one, asked] = [grant(), permission(), permission()];
    if (!isOpen(before, asked)) expect(isOpen({ ...before, deny: [...before.deny, one] }, asked)).toBe(false);
    if (isOpen(before, asked)) expect(isOpen(withAllow(before, one), asked)).toBe(true);
  }
});

test("after a revocation nothing of it is open, and nothing else has opened", () => {
  const { permission, grant } = generator(7);
  for (let round = 0; round < ROUNDS; round += 1) {
    const [before, revoked, asked] = [grant(), permission(), permission()];
    const after = withoutAllow(before, revoked);
    expect(queryState(after, revoked).state).not.toBe("granted");
    if (covers(revoked, asked)) expect(isOpen(after, asked)).toBe(false);
    if (isOpen(after, asked)) expect(isOpen(before, asked)).toBe(true);
  }
});

test("a state tells what a check would say", () => {
  const { permission, grant } = generator(8);
  for (let round = 0; round < ROUNDS; round += 1) {
    const [given, asked] = [grant(), permission()];
    const { state, partial } = queryState(given, asked);
    if (state !== "granted") expect(isOpen(given, asked)).toBe(false);
    if (state === "granted" && !partial) expect(isOpen(given, asked)).toBe(true);
    if (isOpen(given, asked)) expect(state).toBe("granted");
  }
});

test("covering is an order, and what cover the same overlap, whichever comes first", () => {
  const { permission } = generator(9);
  for (let round = 0; round < ROUNDS; round += 1) {
    const [a, b, c] = [permission(), permission(), permission()];
    expect(covers(a, a)).toBe(true);
    if (covers(a, b) && covers(b, c)) expect(covers(a, c)).toBe(true);
    if (covers(a, b) && covers(b, a)) expect(a).toEqual(b);
    expect(overlaps(a, b)).toBe(overlaps(b, a));
    if (covers(a, c) && covers(b, c)) expect(overlaps(a, b)).toBe(true);
  }
});
