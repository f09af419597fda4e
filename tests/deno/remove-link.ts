// flags: --allow-read=. --allow-write=.
await Deno.remove("link-to-notes");
console.log(await Deno.readTextFile("notes.txt"));
try {
  await Deno.lstat("link-to-notes");
} catch (error) {
  console.log((error as Error).name);
}
