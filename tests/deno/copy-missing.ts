// flags: --allow-read=. --allow-write=.
async function tell(work: () => unknown) {
  try {
    console.log(await work());
  } catch (error) {
    console.log((error as Error).name, (error as Error).message);
  }
}
await tell(() => Deno.copyFile("missing.txt", "copy.txt"));
await tell(() => Deno.copyFile("folder", "copy.txt"));
