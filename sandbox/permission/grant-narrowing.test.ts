import { expect, test } from "vitest";
import { asksForMore, narrow } from "./grant-narrowing.ts";
import { type Grant, type Permission, parsePermission, printPermission } from "./permission.ts";

function grantOf(texts: string): Grant {
  const allow: Permission[] = [];
  const deny: Permission[] = [];
  for (const text of texts.split(/ +/).filter(Boolean)) {
    const parsed = parsePermission(text.replace(/^!/, ""), "/base");
    if (!parsed.ok) throw new Error(parsed.message);
    (text.startsWith("!") ? deny : allow).push(...parsed.value);
  }
  return { allow, deny };
}

function print({ allow, deny }: Grant): string {
  return [...allow.map(printPermission), ...deny.map((one) => `!${printPermission(one)}`)].join(" ");
}

function cells(table: string): string[][] {
  return table
    .trim()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()));
}

/** One grant | another | what both allow; `!` stands before a deny. */
const NARROWED = `
    read=/a                    | read=/a/b              | read=/a/b
    read=/a/b                  | read=/a                | read=/a/b
    read                       | read=/a,/b             | read=/a read=/b
    read=/a,/b                 | read=/b,/c             | read=/b
    read=/a                    | read=/b                |
    read=/a                    | write=/a               |
    read=/a                    |                        |
    read write                 | read=/a                | read=/a
    read=/a,/a/b               | read=/a                | read=/a
    read=/a !read=/a/x         | read=/a !read=/a/y     | read=/a !read=/a/x !read=/a/y
    read=/a !read              | read=/a                | read=/a !read
    read=/a !read=/a/x         | read=/a/b              | read=/a/b !read=/a/x
    read !read=/a              | read !read=/a/b        | read !read=/a
    net=a.com                  | net=a.com:443          | net=a.com:443
    net=*.a.com:443            | net=x.a.com            | net=x.a.com:443
    net=*.a.com                | net=*.x.a.com          | net=*.x.a.com
    net=a.com:80               | net=a.com:443          |
    net                        | net=a.com:80           | net=a.com:80
    net                        | net=127.0.0.1          |
    net                        | net=10.0.0.0/8         |
    net                        | net=localhost          |
    net                        | net=1.1.0.0/16         | net=1.1.0.0/16
    net=127.0.0.0/8            | net=127.0.0.1:80       | net=127.0.0.1:80
    net=10.0.0.0/8             | net=10.0.0.0/8:443     | net=10.0.0.0/8:443
    net=10.0.0.0/8:443         | net=10.1.0.0/16        | net=10.1.0.0/16:443
    env                        | env=APP_*              | env=APP_*
    env=A*                     | env=AB*,C              | env=AB*
    env                        | env=API_KEY            |
    env=API_KEY                | env=API_KEY            | env=API_KEY
    run                        | run=git                | run=git
    run=git                    | run=/usr/bin/git       |
    sys=hostname,cpus          | sys=cpus,uid           | sys=cpus
    tool=mcp_*                 | tool=mcp_files_*,read  | tool=mcp_files_*
    memory=read                | memory=query:notes*    | memory=query:notes*
    memory=read:a*             | memory=query           | memory=query:a*
    memory=read:a*             | memory=query:ab        | memory=query:ab
    memory=read:a              | memory=write:a         |
    memory                     | memory=write           | memory=write
`;

test.each(cells(NARROWED))("[%s] and [%s] allow [%s]", (a = "", b = "", both = "") => {
  expect(print(narrow(grantOf(a), grantOf(b)))).toBe(both);
});

test("any number of grants has its say", () => {
  expect(narrow()).toEqual({ allow: [], deny: [] });
  expect(print(narrow(grantOf("read=/a !read=/a/x")))).toBe("read=/a !read=/a/x");
  expect(
    print(narrow(grantOf("read net"), grantOf("read=/a net=a.com !net=b.com"), grantOf("read=/a/b net=a.com:443"))),
  ).toBe("read=/a/b net=a.com:443 !net=b.com");
});

/** What there is | what is asked for | what is more. */
const MORE = `
    read=/a                    | read=/a/b              |
    read=/a                    | read=/a                |
    read=/a                    | read=/b                | read=/b
    read=/a                    | read                   | read
    read=/a                    | read=/a/b,/c write=/a  | read=/c write=/a
    read=/a !read=/a/x         | read=/a                | read=/a
    read=/a !read=/a/x         | read=/a !read=/a/x     |
    read=/a !read=/a/x         | read=/a !read=/a       |
    read=/a !read=/a/x         | read=/a/y              |
    read=/a !read=/a/x         | read=/a/x/y            | read=/a/x/y
    net=*.a.com                | net=x.a.com:80         |
    net=*.a.com:80             | net=x.a.com            | net=x.a.com
    net                        | net=a.com,127.0.0.1    | net=127.0.0.1
    env                        | env=HOME,API_KEY       | env=API_KEY
    env=APP_*                  | env=APP_X*,AP*         | env=AP*
    memory=read                | memory=query           |
    memory=query               | memory=read            | memory=read
                               | sys=uid                | sys=uid
    read                       |                        |
`;

test.each(cells(MORE))("beyond [%s], [%s] asks for [%s]", (wider = "", narrower = "", more = "") => {
  expect(asksForMore(grantOf(wider), grantOf(narrower)).map(printPermission).join(" ")).toBe(more);
});
