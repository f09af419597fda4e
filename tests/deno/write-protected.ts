// flags: --allow-write=. --allow-read=.
// stricter: D5
// says: NotCapable
await Deno.writeTextFile(".git/config", "x");
console.log("written");
