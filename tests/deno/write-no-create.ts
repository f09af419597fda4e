// flags: --allow-read=. --allow-write=.
try {
  await Deno.writeTextFile("absent.txt", "x", { create: false });
} catch (error) {
  console.log((error as Error).name);
}
await Deno.writeTextFile("notes.txt", "kept", { create: false });
console.log(await Deno.readTextFile("notes.txt"));
