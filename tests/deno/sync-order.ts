// flags: --allow-read=. --allow-write=.
// The loop stands still meanwhile: what was begun before ends after it.
const late = Deno.readTextFile("notes.txt").then(() => console.log("later"));
queueMicrotask(() => console.log("microtask"));
for (let at = 0; at < 40; at += 1) Deno.writeTextFileSync("count.txt", `${at}`);
console.log("now", Deno.readTextFileSync("count.txt"));
await late;
