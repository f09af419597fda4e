// flags: --allow-read=. --allow-write=.
using file = await Deno.open("notes.txt");
const into = new Uint8Array(6);
console.log(await file.read(into), new TextDecoder().decode(into));
console.log(await file.read(new Uint8Array(0)), await file.read(new Uint8Array(100)), await file.read(into));
