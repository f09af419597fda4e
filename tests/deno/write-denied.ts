// flags: --allow-write=. --deny-write=folder
await Deno.writeTextFile("ok.txt", "ok");
await Deno.writeTextFile("folder/no.txt", "no");
