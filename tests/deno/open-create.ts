// flags: --allow-read=. --allow-write=.
const bytes = (text: string) => new TextEncoder().encode(text);
using file = await Deno.create("made.txt");
await file.write(bytes("abc"));
await file.seek(1, Deno.SeekMode.Start);
const into = new Uint8Array(9);
console.log(await file.read(into), await file.read(into));
