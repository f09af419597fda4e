// flags: --allow-read=. --allow-write=.
await Deno.writeTextFile("new.txt", "first\n");
console.log(await Deno.readTextFile("new.txt"));
await Deno.writeTextFile("new.txt", "2");
console.log(await Deno.readTextFile("new.txt"));
await Deno.writeTextFile("new.txt", "+", { append: true });
console.log(await Deno.readTextFile("new.txt"));
await Deno.writeTextFile("notes.txt", "ü€😀");
console.log((await Deno.readFile("notes.txt")).length);
