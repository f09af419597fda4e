// flags: --allow-read=. --allow-write=.
async function tell(work: () => unknown) {
  try {
    console.log(await work());
  } catch (error) {
    console.log((error as Error).name, (error as Error).message);
  }
}
const file = await Deno.open("notes.txt");
file.close();
await tell(() => file.read(new Uint8Array(3)));
await tell(() => file.close());
file[Symbol.dispose]();
await tell(() => file.stat());
