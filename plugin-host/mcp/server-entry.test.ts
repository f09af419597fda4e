import type { JsonValue } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { readServerEntry } from "./server-entry.ts";

const place = {
  file: "/home/me/mcp.json",
  folder: "/home/me",
  homeDir: "/home/me",
  env: { TOKEN: "t", HOST: "example.com" },
};
const read = (entry: JsonValue, name = "s") => readServerEntry(name, entry, place);
const problem = (entry: JsonValue, name = "s") => {
  const result = read(entry, name);
  return result.ok ? undefined : result.failure.message;
};

test("a command means a program that is started, a url one that is dialled", () => {
  expect(read({ command: "x", args: ["${TOKEN}"], env: { A: "${TOKEN}" } })).toMatchObject({
    value: {
      reach: { kind: "stdio", command: "x", args: ["t"], env: { A: "t" } },
      timeoutMs: 5000,
      concurrentCalls: 1,
    },
  });
  expect(read({ url: "https://${HOST}/mcp", headers: { Authorization: "Bearer ${TOKEN}" } })).toMatchObject({
    value: { reach: { kind: "http", url: "https://example.com/mcp", headers: { Authorization: "Bearer t" } } },
  });
  expect(read({ type: "sse", url: "http://localhost/sse" })).toMatchObject({ value: { reach: { kind: "sse" } } });
});

test("permissions are those of the one language, with absolute paths", () => {
  expect(read({ command: "x", allow: ["read=./a,~/b", "net=h:1"] })).toMatchObject({
    value: { allow: ["read=/home/me/a", "read=/home/me/b", "net=h:1"] },
  });
  expect(problem({ command: "x", allow: ["read"] })).toContain("is too much");
  expect(problem({ command: "x", allow: ["memory=read"] })).toContain("is not offered to servers");
  expect(problem({ command: "x", allow: ["fly=high"] })).toContain("is no permission");
});

test("a program's own login has an issuer and one proof, and a person's has neither", () => {
  const own = { grant: "client_credentials", client_id: "c", issuer: "https://auth.example.com" };
  const url = "https://h/mcp";
  expect(read({ url, oauth: { ...own, client_secret: "${TOKEN}" } })).toMatchObject({
    value: { reach: { login: { clientSecret: "t", ownKey: { issuer: own.issuer, privateKey: "" } } } },
  });
  expect(read({ url, oauth: { ...own, private_key: "k", algorithm: "RS256" } })).toMatchObject({
    value: { reach: { login: { ownKey: { privateKey: "k", algorithm: "RS256" } } } },
  });
  expect(problem({ url, oauth: own })).toContain("either a client_secret or a private_key");
  expect(problem({ url, oauth: { ...own, client_secret: "s", private_key: "k" } })).toContain("either a client_secret");
  expect(problem({ url, oauth: { ...own, client_secret: "s", issuer: "" } })).toContain("as the issuer");
  expect(problem({ url, oauth: { ...own, private_key: "k", algorithm: "none" } })).toContain("must have an algorithm");
  expect(problem({ url, oauth: { client_id: "c", private_key: "k" } })).toContain("goes with grant");
  expect(problem({ url, oauth: { grant: "password" } })).toContain("as the grant");
});

test("every wrong entry is named with what is wrong with it", () => {
  expect(problem("x")).toContain('MCP server "s" is no table');
  expect(problem({ command: "x" }, "../s")).toContain("must have a name");
  expect(problem({ command: "x" }, "_s")).toContain("must have a name");
  expect(problem({})).toContain("must have a url");
  expect(problem({ command: "" })).toContain("must have a command");
  expect(problem({ command: "x", url: "http://h" })).toContain("a command and a url");
  expect(problem({ url: "ftp://h" })).toContain("a url of http or https");
  expect(problem({ url: "https://me:secret@h" })).toContain("put it into headers");
  expect(problem({ command: "x", args: "y" })).toContain("args");
  expect(problem({ command: "x", env: { "A=B": "c" } })).toContain("no name for one");
  expect(problem({ url: "http://h", headers: { a: "b\r\nc: d" } })).toContain("more than one line");
  expect(problem({ command: "x", timeout: 0 })).toContain("timeout");
  expect(problem({ command: "x", concurrent_calls: 65 })).toContain("concurrent_calls");
  expect(problem({ command: "x", disabled: "yes" })).toContain("disabled");
});

test("an unknown key is refused with the nearest one", () => {
  const result = read({ command: "x", alow: [] });
  expect(result).toMatchObject({ failure: { hint: 'did you mean "allow"?' } });
});

test("tokens for models are whole numbers a day, none unless told otherwise, with a yes each time", () => {
  expect(read({ command: "x", sampling_ask: false })).toMatchObject({ value: { sampling: undefined } });
  expect(read({ command: "x", sampling_tokens: 0 })).toMatchObject({ value: { sampling: undefined } });
  expect(read({ command: "x", sampling_tokens: 9 })).toMatchObject({
    value: { sampling: { tokensPerDay: 9, asks: true } },
  });
  expect(read({ command: "x", sampling_tokens: 9, sampling_ask: false })).toMatchObject({
    value: { sampling: { tokensPerDay: 9, asks: false } },
  });
  for (const wrong of [-1, 1.5, "9", true, 2e9])
    expect(problem({ command: "x", sampling_tokens: wrong })).toContain("must have sampling_tokens of 0 to");
  expect(problem({ command: "x", sampling_tokens: 9, sampling_ask: "no" })).toContain("sampling_ask");
});
