// flags: --allow-read=.
for (const path of ["missing", "notes.txt"]) {
  try {
    for await (const entry of Deno.readDir(path)) console.log(entry.name);
  } catch (error) {
    console.log(path, (error as Error).name);
  }
}
