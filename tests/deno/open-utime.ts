// flags: --allow-read=. --allow-write=.
using file = await Deno.open("notes.txt", { read: true, write: true });
await file.utime(10, new Date(20_000));
const { atime, mtime } = await file.stat();
console.log(atime, mtime);
