// flags: --allow-read=folder
console.log(await Deno.readTextFile("folder/inner.txt"));
try {
  await Deno.readTextFile("notes.txt");
} catch (error) {
  console.log((error as Error).name, error instanceof Deno.errors.NotCapable);
}
