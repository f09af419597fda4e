// flags: --allow-read=. --allow-write=.
using file = await Deno.open("notes.txt", { read: true, write: true });
await file.truncate(5);
console.log(await Deno.readTextFile("notes.txt"));
await file.truncate(7);
console.log((await Deno.readFile("notes.txt")).length);
await file.truncate();
await file.sync();
await file.syncData();
console.log((await file.stat()).size, (await file.stat()).isFile);
