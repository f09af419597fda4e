// flags: --allow-read=.
console.log(Deno.readTextFileSync("notes.txt"), Deno.readFileSync("bytes.bin"));
for (const name of ["missing.txt", "folder"]) {
  try {
    Deno.readTextFileSync(name);
  } catch (error) {
    console.log((error as Error).name, (error as Error).message, error instanceof Deno.errors.NotFound);
  }
}
