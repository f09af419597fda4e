// flags: --allow-read=. --allow-write=.
await Deno.rename("notes.txt", "moved.txt");
console.log(await Deno.readTextFile("moved.txt"));
await Deno.rename("moved.txt", "folder/inner.txt");
console.log(await Deno.readTextFile("folder/inner.txt"));
for (const [from, to] of [["missing", "x"], ["folder/inner.txt", "missing/x"]] as const) {
  try {
    await Deno.rename(from, to);
  } catch (error) {
    console.log(from, (error as Error).name);
  }
}
await Deno.rename("folder", "renamed");
console.log((await Deno.stat("renamed")).isDirectory);
