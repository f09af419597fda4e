import { expect, test } from "vitest";
import { readUvx, requirementOf } from "./uvx-words.ts";

const words = (command: string, ...args: readonly string[]) => {
  const read = readUvx(command, args);
  return read?.ok ? read.value : read?.problem;
};

test("the package is the first plain word, and all that follows is the server's", () => {
  const meant = { kind: "python", packages: ["server"], program: undefined, args: ["-q", "--from", "x"] };
  expect(words("uvx", "server", "-q", "--from", "x")).toEqual(meant);
  expect(words("/opt/bin/uv", "tool", "run", "--quiet", "server", "-q", "--from", "x")).toEqual(meant);
  expect(words("pipx", "run", "--", "server", "-q", "--from", "x")).toEqual(meant);
});

test("with --from and --spec the first plain word is a program, and --with brings others", () => {
  expect(words("uvx", "--from", "one[a,b]>=1,<2", "--with=two==1.0", "--with", "three", "run-it", "x")).toEqual({
    ...{ kind: "python", packages: ["one[a,b]>=1,<2", "two==1.0", "three"], program: "run-it", args: ["x"] },
  });
  expect(words("pipx", "run", "--spec=one@1.2", "run-it")).toMatchObject({ packages: ["one@1.2"], program: "run-it" });
  expect(readUvx("uv", ["run", "server"])).toBeUndefined();
  expect(readUvx("pipx", ["install", "server"])).toBeUndefined();
});

test.each([
  ["server", "server"],
  ["server@latest", "server"],
  ["server@1.2.3", "server==1.2.3"],
  ["server[cli]@v1.2", "server[cli]==1.2"],
  ["server>=1,<2", "server>=1,<2"],
])("%s is %s to an installer", (spec, requirement) => {
  expect(words("uvx", spec)).toMatchObject({ packages: [spec] });
  expect(requirementOf(spec)).toBe(requirement);
});

test.each([
  [["--index-url", "https://elsewhere.example", "server"], "has --index-url"],
  [["--python", "3.12", "server"], "has --python, which only uvx itself"],
  [["--with-editable", ".", "server"], "has --with-editable"],
  [[], "names no package"],
  [["--from", "server"], "names no package"],
  [["--from"], "names no package"],
  [["--from", "a", "--from", "b", "run"], "names two packages"],
  [["--from", "git+https://host/it", "it"], "which is no package of a registry"],
  [["server@git+https://host/it"], "which is no package of a registry"],
  [["server @ https://host/it.whl"], "which is no package of a registry"],
  [["./here"], "which is no package of a registry"],
  [["../it.whl"], "which is no package of a registry"],
  [["it-1.0-py3-none-any.whl"], "which is no package of a registry"],
  [["server;os_name"], "which is no package of a registry"],
  [["server\n--index-url=x"], "which is no package of a registry"],
  [["--with", "-r", "server"], '"-r", which is no package'],
])("uvx %j is refused and says why", (args, why) => {
  expect(words("uvx", ...args)).toContain(why);
});
