// flags: --allow-read=folder --deny-read
// stricter: D1
// says: flag forbids
console.log(await Deno.readTextFile("folder/inner.txt"));
