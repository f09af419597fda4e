// flags: --allow-read=folder
async function tell(work: () => unknown) {
  try {
    console.log(await work());
  } catch (error) {
    console.log((error as Error).name, "");
  }
}
await tell(() => Deno.open("notes.txt"));
await tell(() => Deno.open("folder/inner.txt", { write: true }));
await tell(() => Deno.open("folder/inner.txt", { read: true, write: true }));
await tell(() => Deno.create("folder/new.txt"));
