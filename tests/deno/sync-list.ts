// flags: --allow-read=.
console.log([...Deno.readDirSync("folder")].sort((a, b) => (a.name < b.name ? -1 : 1)));
for (const { name, isDirectory } of Deno.readDirSync("folder/deeper")) console.log(name, isDirectory);
try {
  Deno.readDirSync("nowhere");
} catch (error) {
  console.log((error as Error).name);
}
