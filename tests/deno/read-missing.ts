// flags: --allow-read=.
for (const path of ["missing.txt", "missing/also.txt", "notes.txt/below"]) {
  try {
    await Deno.readTextFile(path);
  } catch (error) {
    console.log(path, (error as Error).name, error instanceof Deno.errors.NotFound);
  }
}
