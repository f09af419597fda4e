// flags: --allow-read
await Deno.writeTextFile("no.txt", "no");
