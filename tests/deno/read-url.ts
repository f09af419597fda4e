// flags: --allow-read=.
const here = new URL(`file://${Deno.cwd()}/`);
console.log(await Deno.readTextFile(new URL("notes.txt", here)));
try {
  await Deno.readTextFile(new URL("http://example.com/x"));
} catch (error) {
  console.log((error as Error).name);
}
