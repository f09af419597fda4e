// flags: --allow-read --allow-write
// stricter: D4
// says: Deno.link is not offered
await Deno.link("notes.txt", "new-name");
console.log("made");
