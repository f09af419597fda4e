// flags: --allow-read=. --allow-write=.
async function tell(work: () => unknown) {
  try {
    console.log(await work());
  } catch (error) {
    console.log((error as Error).name, (error as Error).message);
  }
}
const bytes = (text: string) => new TextEncoder().encode(text);
using reading = await Deno.open("notes.txt");
await tell(() => reading.write(bytes("x")));
using writing = await Deno.open("notes.txt", { write: true });
await tell(() => writing.read(new Uint8Array(3)));
await tell(() => reading.truncate(1));
