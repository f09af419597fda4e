// flags: --allow-read=.
const names: string[] = [];
for await (const entry of Deno.readDir("folder")) {
  names.push(`${entry.name} ${entry.isFile} ${entry.isDirectory} ${entry.isSymlink}`);
}
console.log(names.sort());
