// flags:
for (const look of [Deno.stat, Deno.lstat]) {
  try {
    await look("notes.txt");
  } catch (error) {
    console.log((error as Error).name);
  }
}
