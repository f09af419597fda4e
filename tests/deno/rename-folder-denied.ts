// flags: --allow-read=. --allow-write=. --deny-read=folder/inner.txt
// stricter: D16
// says: which goes beyond what is granted
await Deno.rename("folder", "moved");
console.log(await Deno.readTextFile("moved/inner.txt"));
