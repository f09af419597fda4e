// flags: --allow-read=. --allow-write=.
async function tell(work: () => unknown) {
  try {
    console.log(await work());
  } catch (error) {
    console.log((error as Error).name, (error as Error).message);
  }
}
for (const mode of [0o600, 0o644, 0o755]) {
  await Deno.chmod("notes.txt", mode);
  console.log(((await Deno.stat("notes.txt")).mode ?? 0).toString(8));
}
await tell(() => Deno.chmod("missing.txt", 0o600));
