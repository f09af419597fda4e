// flags: --allow-read=. --allow-write=.
async function tell(work: () => unknown) {
  try {
    console.log(await work());
  } catch (error) {
    console.log((error as Error).name, (error as Error).message);
  }
}
await Deno.utime("notes.txt", 1, 2);
console.log((await Deno.stat("notes.txt")).mtime, (await Deno.stat("notes.txt")).atime);
await Deno.utime("notes.txt", new Date(5000), new Date(7000));
console.log((await Deno.stat("notes.txt")).mtime);
await tell(() => Deno.utime("missing.txt", 1, 2));
