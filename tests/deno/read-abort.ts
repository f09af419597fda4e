// flags: --allow-read=.
try {
  await Deno.readTextFile("notes.txt", { signal: AbortSignal.abort() });
} catch (error) {
  console.log((error as Error).name);
}
