// flags: --allow-read=. --allow-write=.
const bytes = (text: string) => new TextEncoder().encode(text);
const file = await Deno.open("new.txt", { write: true, create: true });
console.log(await file.write(bytes("hello ")), await file.write(bytes("world")));
await file.seek(0, Deno.SeekMode.Start);
console.log(await file.write(bytes("J")));
file.close();
console.log(await Deno.readTextFile("new.txt"));
