import { expect, test } from "vitest";
import { check } from "./grant.ts";
import { type Grant, type Permission, parsePermission, printPermission } from "./permission.ts";
import { queryState, withAllow, withoutAllow } from "./permission-state.ts";

function parseAll(texts: string): Permission[] {
  return texts.split(/ +/).flatMap((text) => {
    if (text === "") return [];
    const parsed = parsePermission(text, "/base");
    if (!parsed.ok) throw new Error(parsed.message);
    return parsed.value;
  });
}

function grantOf(allow: string, deny = ""): Grant {
  return { allow: parseAll(allow), deny: parseAll(deny) };
}

function one(text: string): Permission {
  const [permission] = parseAll(text);
  if (!permission) throw new Error(`"${text}" is no permission`);
  return permission;
}

/** What is allowed | what is denied | what is asked about | the state. Where Deno 2.9 tells another, its word stands last. */
const STATES = `
    read=/a            |                    | read              | prompt
    read=/a            |                    | read=/a           | granted
    read=/a            |                    | read=/a/b         | granted
    read=/a            |                    | read=/            | prompt
    read               |                    | read              | granted
    read               |                    | read=/a           | granted
    read=/a            | read=/a/b          | read              | prompt
    read=/a            | read=/a/b          | read=/a           | granted partial
    read=/a            | read=/a/b          | read=/a/b         | denied
    read=/a            | read=/a/b          | read=/a/b/c       | denied
    read=/a            | read=/a/b          | read=/a/c         | granted
    read=/a            | read=/a/b          | read=/            | prompt
    read               | read=/a/b          | read              | granted partial
    read               | read=/a/b          | read=/a           | granted partial
    read               | read=/a/b          | read=/a/b         | denied
    read               | read=/a/b          | read=/a/b/c       | denied
    read               | read=/a/b          | read=/a/c         | granted
    read               | read=/a/b          | read=/            | granted partial
                       | read=/a/b          | read              | prompt
                       | read=/a/b          | read=/a           | prompt
                       | read=/a/b          | read=/a/b         | denied
                       | read               | read=/a           | denied
                       | read               | read              | denied
    read=/a/b          | read=/a            | read              | prompt
    read=/a/b          | read=/a            | read=/a           | denied
    read=/a/b          | read=/a            | read=/a/b         | denied          | granted
    read=/a/b          | read=/a            | read=/a/b/c       | denied          | granted
    read=/a/b          | read               | read              | denied
    read=/a/b          | read               | read=/a/b         | denied          | granted
    net=example.com    |                    | net               | prompt
    net=*.example.com  | net=*.example.com:22 | net=a.example.com | granted partial | granted
    memory             | memory=read:x      | memory=query      | granted partial
    net=example.com    |                    | net=example.com   | granted
    net=example.com    |                    | net=example.com:80 | granted
    net=example.com:80 |                    | net=example.com   | prompt
    net=example.com:80 |                    | net=example.com:80 | granted
    net                | net=example.com:80 | net               | granted partial
    net                | net=example.com:80 | net=example.com   | granted partial | granted
    net                | net=example.com:80 | net=example.com:80 | denied
    net                | net=example.com:80 | net=example.com:443 | granted
    net                |                    | net=127.0.0.1     | prompt          | granted
    net                |                    | net=localhost     | prompt          | granted
    net=127.0.0.1      |                    | net=0x7f.1        | granted         | prompt
    net=127.0.0.1      |                    | net=[::ffff:7f00:1] | granted
    net=*.example.com  |                    | net=example.com   | granted
    net=*.example.com  |                    | net=a.b.example.com | granted
    net=10.0.0.0/8     |                    | net=10.1.2.3:80   | granted
    net=example.com    | net=10.0.0.0/8     | net=10.1.2.3      | denied
    env=APP_*          |                    | env=APP_X         | granted
    env=APP_*          |                    | env=HOME          | prompt
    env                | env=SECRET         | env               | granted partial
    env                | env=SECRET         | env=SECRET        | denied
    env                |                    | env=API_KEY       | prompt          | granted
    run=ls             |                    | run=ls            | granted
    run=ls             |                    | run=/bin/ls       | prompt
    sys                | sys=uid            | sys               | granted partial
    sys                | sys=uid            | sys=uid           | denied
    sys                | sys=uid            | sys=gid           | granted
    sys=hostname       |                    | sys=cpus          | prompt
    tool=read          |                    | tool=shell        | prompt
    memory=read        |                    | memory=query      | granted
`;

function cells(table: string): string[][] {
  return table
    .trim()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()));
}

test.each(cells(STATES))("allow [%s] deny [%s]: %s is %s", (allow = "", deny = "", asked = "", expected = "") => {
  const { state, partial } = queryState(grantOf(allow, deny), one(asked));
  expect(`${state}${partial ? " partial" : ""}`).toBe(expected);
});

test("what is malformed is denied, so that nobody is asked", () => {
  expect(queryState(grantOf("read"), { kind: "read", path: "a" })).toEqual({ state: "denied", partial: false });
  expect(queryState(grantOf("net"), { kind: "net", port: 80 })).toEqual({ state: "denied", partial: false });
  expect(queryState(grantOf("memory"), { kind: "memory", namespace: "a" })).toEqual({
    state: "denied",
    partial: false,
  });
});

/** What is allowed | what is revoked | what is still allowed. */
const REVOKED = `
    read=/a                        | read=/a             |
    read=/a                        | read=/a/b           |
    read=/a/b                      | read=/a             |
    read=/a,/b                     | read=/a             | read=/b
    read=/a                        | read=/c             | read=/a
    read=/a,/b write=/a            | read                | write=/a
    read                           | read                |
    read                           | read=/a             |
    read=/a                        | write=/a            | read=/a
    net=a.com                      | net=a.com:80        |
    net=a.com:80                   | net=a.com           |
    net=a.com:80                   | net=a.com:443       | net=a.com:80
    net=*.a.com,b.com              | net=x.a.com         | net=b.com
    net=x.a.com                    | net=*.a.com         |
    net=10.0.0.0/8,192.168.0.0/16  | net=10.1.2.3        | net=192.168.0.0/16
    net=x.a.com,*.a.com:80         | net=*.a.com:80      |
    env=APP_*,HOME                 | env=APP_X           | env=HOME
    env=APP_X,HOME                 | env=APP_*           | env=HOME
    run=git,ls                     | run=git             | run=ls
    sys=hostname,cpus              | sys                 |
    memory=read:a,write            | memory=read         | memory=write
    memory=read                    | memory=query:a      |
`;

test.each(cells(REVOKED))("of [%s] is revoked %s: [%s] is left", (allow = "", revoked = "", left = "") => {
  const grant = withoutAllow(grantOf(allow), one(revoked));
  expect(grant.allow).toEqual(parseAll(left));
  expect(queryState(grant, one(revoked)).state).toBe("prompt");
});

test("a yes adds one permission, but opens nothing that is denied", () => {
  const grant = grantOf("read=/a", "read=/b");
  expect(withAllow(grant, one("read=/a/x"))).toBe(grant);
  expect(withAllow(grant, { kind: "read", path: "relative" })).toBe(grant);
  expect(withAllow(grant, one("net=a.com")).allow.map(printPermission)).toEqual(["read=/a", "net=a.com"]);
  const widened = withAllow(grant, one("read=/b/c"));
  expect(check(widened, { kind: "read", path: "/b/c" }).ok).toBe(false);
  const all = withAllow(grantOf("net"), one("net=127.0.0.1"));
  expect(check(all, { kind: "net", host: "127.0.0.1", port: 80 }).ok).toBe(true);
});
