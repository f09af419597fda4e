// flags: --allow-write=folder
// stricter: D2
// says: NotCapable
await Deno.writeTextFile("folder/link-out", "x");
console.log("written");
