// flags: --allow-read=. --allow-write=.
async function tell(work: () => unknown) {
  try {
    console.log(await work());
  } catch (error) {
    console.log((error as Error).name, (error as Error).message);
  }
}
using file = await Deno.open("notes.txt");
console.log(await file.seek(3, Deno.SeekMode.Start), await file.seek(2, Deno.SeekMode.Current));
console.log(await file.seek(-4, Deno.SeekMode.End), await file.seek(100, Deno.SeekMode.Start));
console.log(await file.read(new Uint8Array(4)));
await tell(() => file.seek(-1, Deno.SeekMode.Start));
console.log(Deno.SeekMode);
