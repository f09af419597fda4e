// flags: --allow-write=folder
await Deno.mkdir("folder/made");
await Deno.mkdir("made");
