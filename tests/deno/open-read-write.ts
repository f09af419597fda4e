// flags: --allow-read=. --allow-write=.
const bytes = (text: string) => new TextEncoder().encode(text);
using file = await Deno.open("notes.txt", { read: true, write: true });
const into = new Uint8Array(5);
await file.read(into);
await file.write(bytes("-"));
console.log(await Deno.readTextFile("notes.txt"));
