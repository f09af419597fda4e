// flags:
// args: -f --bar=own word
import { parseArgs } from "node:util";
const options = {
  foo: { type: "boolean", short: "f" },
  bar: { type: "string", short: "b" },
  many: { type: "string", multiple: true, default: ["d"] },
} as const;
console.log(parseArgs({ options, allowPositionals: true }));
const tries: [string[], object?][] = [
  [["-f", "--bar", "b"]], [["-fb", "x"]], [["-bx"]], [["--bar=b=c", "--many", "1", "--many=2"]], [["pos"]],
  [["pos", "--foo", "--", "--bar"], { allowPositionals: true, tokens: true }], [["--nope"]], [["-n"]],
  [["--nope=1", "-xyz"], { strict: false, tokens: true }], [["--foo=1"]], [["--bar"]], [["--bar", "-f"]], [["-b", "-f"]],
  [["--no-foo"], { allowNegative: true }], [["--no-foo"]], [["--no-bar"], { allowNegative: true }],
  [["-f", "-"], { allowPositionals: true }], [["--nope"], { allowPositionals: true }],
];
for (const [args, more] of tries) {
  try {
    console.log(parseArgs({ args, options, ...more }));
  } catch (error) {
    const { name, code, message } = error as Error & { code: string };
    console.log(name, code, message);
  }
}
for (const wrong of [{ type: "x" }, { type: "boolean", short: "ab" }, { type: "string", default: true }]) {
  try {
    parseArgs({ args: [], options: { a: wrong as never } });
  } catch (error) {
    console.log((error as Error & { code: string }).code, (error as Error).message);
  }
}
