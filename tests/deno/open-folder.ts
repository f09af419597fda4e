// flags: --allow-read=. --allow-write=.
// stricter: D4
// says: Is a directory
(await Deno.open("folder")).close();
console.log("opened");
