// flags: --allow-read=.
// stricter: D13
// says: readTextFile
console.log(Deno.readTextFileSync("notes.txt"));
