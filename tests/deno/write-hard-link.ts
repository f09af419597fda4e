// flags: --allow-write=.
// stricter: D4
// says: has a second name
await Deno.writeTextFile("twice.txt", "x");
console.log("written");
