// flags: --allow-read=. --allow-write=.
async function tell(work: () => unknown) {
  try {
    console.log(await work());
  } catch (error) {
    console.log((error as Error).name, (error as Error).message);
  }
}
console.log(await Deno.readLink("link-to-notes"), await Deno.readLink("folder/link-out"));
await tell(() => Deno.readLink("notes.txt"));
await tell(() => Deno.readLink("missing.txt"));
