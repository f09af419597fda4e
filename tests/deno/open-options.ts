// flags: --allow-read=. --allow-write=.
async function tell(work: () => unknown) {
  try {
    console.log(await work());
  } catch (error) {
    console.log((error as Error).name, (error as Error).message);
  }
}
const all = [{}, { create: true }, { truncate: true }, { read: false }, { write: true, createNew: true }, { append: true, truncate: true }];
for (const options of all) await tell(async () => (await Deno.open("notes.txt", options)).close());
await tell(() => Deno.open("missing.txt"));
await tell(() => Deno.open("missing.txt", { write: true }));
