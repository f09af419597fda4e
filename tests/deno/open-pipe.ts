// flags: --allow-read=. --allow-write=.
const from = await Deno.open("notes.txt");
const to = await Deno.create("piped.txt");
await from.readable.pipeTo(to.writable);
console.log(await Deno.readTextFile("piped.txt"));
