// flags: --allow-read=folder
// stricter: D2
// says: NotCapable
console.log(await Deno.readLink("folder/link-to-secret"));
