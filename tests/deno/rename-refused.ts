// flags: --allow-read=. --allow-write=folder
for (const [from, to] of [["notes.txt", "folder/notes.txt"], ["folder/inner.txt", "inner.txt"]] as const) {
  try {
    await Deno.rename(from, to);
    console.log("renamed");
  } catch (error) {
    console.log(from, (error as Error).name);
  }
}
