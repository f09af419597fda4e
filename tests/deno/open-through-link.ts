// flags: --allow-read=folder
// stricter: D2
// says: NotCapable
(await Deno.open("folder/link-to-secret")).close();
console.log("opened");
