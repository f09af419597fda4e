// flags: --allow-read=. --allow-write=.
const file = await Deno.open("notes.txt");
console.log(file, file instanceof Deno.FsFile, file.isTerminal(), Object.keys(file));
file.close();
try {
  new (Deno.FsFile as never)(3);
} catch (error) {
  console.log((error as Error).name);
}
