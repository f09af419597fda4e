// flags: --allow-read=folder
// stricter: D2
// says: NotCapable
console.log(await Deno.readTextFile("folder/link-out"));
