// flags:
await Deno.readTextFile("notes.txt");
