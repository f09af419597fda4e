// flags: --allow-read=. --allow-write=.
const bytes = (text: string) => new TextEncoder().encode(text);
using file = await Deno.open("notes.txt", { append: true });
await file.seek(0, 0);
await file.write(bytes("end\n"));
console.log(await Deno.readTextFile("notes.txt"));
