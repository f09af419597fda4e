// flags: --allow-write=.
for (const path of ["folder", "missing/x.txt", "notes.txt/x"]) {
  try {
    await Deno.writeTextFile(path, "x");
  } catch (error) {
    console.log(path, (error as Error).name);
  }
}
