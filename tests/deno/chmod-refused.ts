// flags: --allow-read=.
try {
  await Deno.chmod("notes.txt", 0o600);
} catch (error) {
  console.log((error as Error).name);
}
