// flags: --allow-read=folder
console.log(Deno.readTextFileSync("folder/inner.txt"));
for (const work of [
  () => Deno.readTextFileSync("notes.txt"),
  () => Deno.writeTextFileSync("folder/inner.txt", ""),
  () => Deno.openSync("notes.txt"),
  () => new Deno.Command("echo").outputSync(),
]) {
  try {
    work();
  } catch (error) {
    console.log((error as Error).name, error instanceof Deno.errors.NotCapable);
  }
}
