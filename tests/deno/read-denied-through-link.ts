// flags: --allow-read=. --deny-read=secret.txt
// stricter: D2
// says: NotCapable
console.log(await Deno.readTextFile("folder/link-to-secret"));
