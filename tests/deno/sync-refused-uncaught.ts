// flags:
Deno.readTextFileSync("notes.txt");
