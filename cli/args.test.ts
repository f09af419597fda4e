import { expect, test } from "vitest";
import { parseArguments } from "./args.ts";
import { COMMANDS } from "./command-table.ts";
import { describeCommands } from "./help.ts";
import { editDistance, nearest } from "./nearest.ts";

function parse(line: readonly string[]) {
  return parseArguments(COMMANDS, line);
}
function run(...line: readonly string[]) {
  const parsed = parse(line);
  if (!parsed.ok || parsed.value.kind !== "run") throw new Error(`no command: ${JSON.stringify(parsed)}`);
  return parsed.value;
}
function misuse(...line: readonly string[]): string {
  const parsed = parse(line);
  if (parsed.ok) throw new Error(`no misuse: ${JSON.stringify(parsed)}`);
  expect(parsed.trouble.kind).toBe("usage");
  return `${parsed.trouble.message} | ${parsed.trouble.hint ?? ""}`;
}

test("words and flags may stand in any order, with a space or an equals sign", () => {
  for (const line of [
    ["say", "hello", "there", "--session", "s1", "--allow", "shell:ls", "--allow=write", "--yolo"],
    ["say", "--yolo", "--allow=shell:ls", "--session=s1", "hello", "--allow", "write", "there"],
  ]) {
    const { syntax, args } = run(...line);
    expect(syntax.path).toEqual(["say"]);
    expect(args.positionals).toEqual(["hello", "there"]);
    expect(args.text("session")).toBe("s1");
    expect(args.list("allow")).toEqual(["shell:ls", "write"]);
    expect(args.on("yolo")).toBe(true);
    expect(args.on("json")).toBe(false);
  }
});

test("everything after -- is a word, and a lone dash is one, too", () => {
  expect(run("say", "--", "--yolo", "-h").args.positionals).toEqual(["--yolo", "-h"]);
  expect(run("say", "-").args.positionals).toEqual(["-"]);
});

test("a value may hold equals signs and be empty", () => {
  expect(run("hook", "test", "h", '--value={"a":"b=c"}').args.text("value")).toBe('{"a":"b=c"}');
  expect(run("hook", "test", "h", "--value=").args.text("value")).toBe("");
});

test.each([
  [["sesions", "list"], 'did you mean "claw sessions"?'],
  [["sessions", "lst"], 'did you mean "claw sessions list"?'],
  [["sessions"], "there are: list show fork delete export"],
  [["plugin", "instal", "x"], 'did you mean "claw plugin install"?'],
  [["say", "x", "--sesion", "s1"], 'did you mean "--session"?'],
  [["say", "x", "--yollo"], 'did you mean "--yolo"?'],
  [["say", "x", "-x"], "there are: --session"],
  [["say", "x", "--yolo=yes"], "write --yolo alone"],
  [["say", "x", "--session"], "write --session ID"],
  [["say", "x", "--session", "--yolo"], "write --session ID"],
  [["attach"], '"claw attach" needs ID'],
  [["attach", "a", "b"], 'has no use for "b"'],
  [["up", "now"], 'has no use for "now"'],
  [["qqqqqq"], "there are: say chat"],
  [["stauts"], 'did you mean "claw status"?'],
])("%j is wrong usage and says what is right", (line, expected) => {
  expect(misuse(...line)).toContain(expected);
});

test("run keeps permissions for itself and hands the rest to the script", () => {
  const before = run("run", "--allow-read=./data", "a.ts", "--deny-net", "one", "--allow-env", "--two", "-h");
  expect(before.args.positionals).toEqual(["a.ts"]);
  expect(before.args.open).toEqual(["allow-read=./data", "deny-net"]);
  expect(before.args.tail).toEqual(["one", "--allow-env", "--two", "-h"]);
});

test.each([
  [["-R", "a.ts"], ["allow-read"]],
  [
    ["-R=./data", "-W", "a.ts"],
    ["allow-read=./data", "allow-write"],
  ],
  [
    ["-RWE=HOME,LANG", "a.ts"],
    ["allow-read", "allow-write", "allow-env=HOME,LANG"],
  ],
  [
    ["-N=a.example:443", "--deny-net=b.example", "-S", "a.ts"],
    ["allow-net=a.example:443", "deny-net=b.example", "allow-sys"],
  ],
  [["-A", "a.ts"], ["allow-all"]],
])("run %j reads Deno's letters", (line, open) => {
  const { args } = run("run", ...line, "-R", "--allow-read");
  expect(args.open).toEqual(open);
  expect(args.tail).toEqual(["-R", "--allow-read"]);
});

test.each([
  [["run", "-Z", "a.ts"], '"claw run" has no flag -Z'],
  [["run", "-RZ", "a.ts"], "has no flag -RZ"],
  [["say", "-R", "x"], "has no flag -R"],
  [["run", "--no-promt", "a.ts"], 'did you mean "--no-prompt"?'],
  [["run", "--alow-read=.", "a.ts"], 'did you mean "--allow-read"?'],
  [["run", "--xyz", "a.ts"], "there are: --allow-KIND[=LIST] --deny-KIND[=LIST] --no-prompt"],
  [["run", "--time-limit", "--no-prompt", "a.ts"], "write --time-limit TIME"],
])("%j is wrong usage", (line, expected) => {
  expect(misuse(...line)).toContain(expected);
});

test("help is found for the program, a family and a command", () => {
  expect(parse(["--help"])).toEqual({ ok: true, value: { kind: "help", of: [] } });
  expect(parse(["plugin", "--help"])).toEqual({ ok: true, value: { kind: "help", of: ["plugin"] } });
  expect(parse(["say", "x", "-h"])).toEqual({ ok: true, value: { kind: "help", of: ["say"] } });
  expect(parse(["help", "sessions", "fork"])).toEqual({ ok: true, value: { kind: "help", of: ["sessions", "fork"] } });
  expect(parse(["--version"])).toEqual({ ok: true, value: { kind: "version" } });
});

test("every command has a help of its own that names each of its flags", () => {
  for (const command of COMMANDS) {
    const help = describeCommands(COMMANDS, command.path, Number.POSITIVE_INFINITY);
    if (!help.ok) throw new Error(help.trouble.message);
    expect(help.value).toContain(command.about);
    for (const flag of command.flags) expect(help.value).toContain(`--${flag.name}`);
  }
});

test("every command of the table can be loaded", async () => {
  for (const command of COMMANDS) expect(await command.load()).toBeTypeOf("function");
});

test("two swapped letters count as one slip, and far words are not offered", () => {
  expect(editDistance("stauts", "status")).toBe(1);
  expect(editDistance("", "abc")).toBe(3);
  expect(editDistance("kitten", "sitting")).toBe(3);
  expect(nearest("xyz", ["status", "say"])).toBeUndefined();
  expect(nearest("", ["say"])).toBeUndefined();
});
