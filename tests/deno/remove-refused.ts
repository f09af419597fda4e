// flags: --allow-write=folder
try {
  await Deno.remove("notes.txt");
} catch (error) {
  console.log((error as Error).name);
}
await Deno.remove("missing.txt");
