// flags: --allow-read=. --deny-read=folder
console.log(await Deno.readTextFile("notes.txt"));
for (const path of ["folder/inner.txt", "./folder/../folder/inner.txt"]) {
  try {
    console.log(await Deno.readTextFile(path));
  } catch (error) {
    console.log(path, (error as Error).name);
  }
}
