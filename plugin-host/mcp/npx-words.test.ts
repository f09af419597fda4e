import { expect, test } from "vitest";
import { readNpx } from "./npx-words.ts";

const words = (command: string, ...args: readonly string[]) => {
  const read = readNpx(command, args);
  return read?.ok ? read.value : read?.problem;
};

test("the package is npx's first plain word, and all that follows is the server's", () => {
  expect(words("npx", "-y", "@scope/server", "-y", "--port", "1")).toEqual({
    kind: "npm",
    packages: ["@scope/server"],
    program: undefined,
    args: ["-y", "--port", "1"],
  });
  expect(words("/opt/bin/npx", "--yes", "--", "server@latest", "a")).toMatchObject({
    packages: ["server@latest"],
    args: ["a"],
  });
});

test("with -p the first plain word is one of the packages' programs", () => {
  const meant = { kind: "npm", packages: ["@scope/one@^1.2", "two"], program: "run-it", args: ["a"] };
  expect(words("npx", "-p", "@scope/one@^1.2", "--package=two", "run-it", "a")).toEqual(meant);
  expect(words("npm", "exec", "--package", "@scope/one@^1.2", "-p=two", "--", "run-it", "a")).toEqual(meant);
});

test("npm exec takes flags on both sides of the package, and other programs are not meant", () => {
  expect(words("npm", "x", "server", "--yes", "--", "--flag")).toMatchObject({
    packages: ["server"],
    args: ["--flag"],
  });
  expect(readNpx("npm", ["run", "x"])).toBeUndefined();
  expect(readNpx("node", ["npx"])).toBeUndefined();
});

test.each([
  [["-c", "server && rm"], "has -c"],
  [["--registry=https://elsewhere.example", "server"], "has --registry="],
  [[], "names no package"],
  [["-y", "--"], "names no package"],
  [["-p"], "names no package"],
  [["-p", "--", "x"], '"--", which is no package'],
  [["github:some/body"], "which is no package of a registry"],
  [["git+ssh://host/it.git"], "which is no package of a registry"],
  [["server@https://host/it.tgz"], "which is no package of a registry"],
  [["server@npm:other"], "which is no package of a registry"],
  [["./here"], "which is no package of a registry"],
  [["../../etc/passwd"], "which is no package of a registry"],
  [[".hidden"], "which is no package of a registry"],
  [["here.tgz"], "which is no package of a registry"],
])("npx %j is refused and says why", (args, why) => {
  expect(words("npx", ...args)).toContain(why);
});
