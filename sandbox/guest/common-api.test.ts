import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COMMON_GLOBALS, COMMON_INTERFACES } from "../fixtures/common-api.ts";
import { type GuestRoom, openGuestRoom } from "../fixtures/guest-room.ts";

let room: GuestRoom;
beforeAll(async () => {
  room = await openGuestRoom();
});
afterAll(() => room.close());

/** What the table says that there is not: the names in the first column of its rows that say "no". */
const documented = readFileSync(join(import.meta.dirname, "../../docs/web-surface.md"), "utf8")
  .split("\n")
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .filter(([, , how]) => how === "no")
  .flatMap(([, names = ""]) => [...names.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));

function isDocumented(name: string): boolean {
  return documented.some((known) => name === known || name.startsWith(`${known}.`));
}

/** Prints the names of `wanted` that there are not. A member is looked for where the standards have it: on the prototype. */
const MISSING = `
  const find = (path) => path.split(".").reduce((from, name) => {
    if (from === undefined || from === null || !(name in Object(from))) throw new Error("missing");
    return from[name];
  }, globalThis);
  const has = (of, name) => (name.startsWith("@@") ? Symbol[name.slice(2)] : name) in of;
  const missing = [];
  for (const [name, members] of Object.entries(interfaces)) {
    let kind;
    try { kind = find(name); } catch { missing.push(name); continue; }
    const [own, instances] = members.split("|").map((part) => part.split(" ").filter((word) => word !== ""));
    for (const member of own) if (!has(kind, member)) missing.push(name + "." + member);
    for (const member of instances) if (!has(kind.prototype, member)) missing.push(name + ".prototype." + member);
  }
  for (const name of globals) try { find(name); } catch { missing.push(name); }
  console.log(JSON.stringify(missing));`;

test("every name of the minimum common web API is there, or said not to be", async () => {
  const source = `const interfaces = ${JSON.stringify(COMMON_INTERFACES)}; const globals = ${JSON.stringify(COMMON_GLOBALS)}; ${MISSING}`;
  const missing = JSON.parse(await room.printed(source)) as string[];
  expect(missing.filter((name) => !isDocumented(name))).toEqual([]);
  // What is there after all must not be called missing.
  expect(
    documented
      .filter((name) => !/^(SharedArrayBuffer|Atomics)$/.test(name))
      .filter((name) => !missing.some((one) => one === name || one.startsWith(`${name}.`))),
  ).toEqual([]);
});
