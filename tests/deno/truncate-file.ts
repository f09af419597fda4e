// flags: --allow-read=. --allow-write=.
async function tell(work: () => unknown) {
  try {
    console.log(await work());
  } catch (error) {
    console.log((error as Error).name, (error as Error).message);
  }
}
await Deno.truncate("notes.txt", 5);
console.log(await Deno.readTextFile("notes.txt"));
await Deno.truncate("notes.txt", 8);
console.log((await Deno.readFile("notes.txt")).join());
await Deno.truncate("notes.txt");
console.log((await Deno.stat("notes.txt")).size);
await tell(() => Deno.truncate("missing.txt"));
