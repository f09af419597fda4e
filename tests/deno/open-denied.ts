// flags: --allow-read=. --deny-read=notes.txt
try {
  await Deno.open("notes.txt");
} catch (error) {
  console.log((error as Error).name);
}
