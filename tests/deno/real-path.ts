// flags: --allow-read=. --allow-write=.
async function tell(work: () => unknown) {
  try {
    console.log(await work());
  } catch (error) {
    console.log((error as Error).name, (error as Error).message);
  }
}
const end = (path: string) => path.split("/").slice(-2).join("/").replace(/^run-[^/]*/, "HERE");
console.log(end(await Deno.realPath("folder/inner.txt")), end(await Deno.realPath("./folder/../notes.txt")));
console.log(end(await Deno.realPath("link-to-notes")));
await tell(() => Deno.realPath("missing.txt"));
