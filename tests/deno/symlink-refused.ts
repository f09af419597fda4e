// flags: --allow-read --allow-write
// stricter: D2
// says: Deno.symlink is not offered
await Deno.symlink("notes.txt", "new-link");
console.log("made");
