// flags: --allow-read=. --allow-write=.
const bytes = (text: string) => new TextEncoder().encode(text);
using file = await Deno.open("notes.txt", { write: true, truncate: true });
console.log((await file.stat()).size);
await file.write(bytes("x"));
console.log((await file.stat()).size, await Deno.readTextFile("notes.txt"));
