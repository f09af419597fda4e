// flags: --allow-read=. --allow-write=.
await Deno.chmod("notes.txt", 0o640);
await Deno.copyFile("notes.txt", "copy.txt");
console.log(((await Deno.stat("copy.txt")).mode ?? 0).toString(8));
