// flags: --allow-read=. --allow-write=.
await Deno.copyFile("notes.txt", "copy.txt");
console.log(await Deno.readTextFile("copy.txt"));
await Deno.copyFile("empty.txt", "copy.txt");
console.log((await Deno.stat("copy.txt")).size);
