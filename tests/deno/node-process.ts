// flags: --allow-env=CORPUS_NAME,CORPUS_NEW,HOME,TMPDIR,TMP,TEMP --allow-read=.
// args: one --two
// input: typed\nlines\n
import os from "node:os";
import process, { argv, env } from "node:process";

console.log(argv.length, argv.slice(2), process.argv[1]?.endsWith("node-process.ts"));
console.log(env.CORPUS_NAME, "CORPUS_NAME" in env, process.env === env);
env.CORPUS_NEW = "new";
console.log(env.CORPUS_NEW, Deno.env.get("CORPUS_NEW"), delete env.CORPUS_NEW, env.CORPUS_NEW);
try {
  console.log(env.CORPUS_OTHER);
} catch (error) {
  console.log((error as Error).name);
}
console.log(process.cwd() === Deno.cwd(), process.platform, process.arch, typeof process.pid);
console.log(os.EOL === "\n", os.platform(), os.type(), os.arch(), os.tmpdir(), os.endianness());
console.log(process.stdout.isTTY ?? false, typeof process.hrtime.bigint(), process.hrtime().length);
process.nextTick((text: string) => console.log(text), "in the next tick");
let typed = "";
for await (const piece of process.stdin) typed += piece;
console.log(JSON.stringify(typed));
await new Promise<void>((resolve) => {
  process.stdout.write("written\n", () => resolve());
});
console.log(process.exitCode);
process.exitCode = 3;
console.log(process.exitCode, Deno.exitCode);
process.exit();
