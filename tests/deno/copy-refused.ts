// flags: --allow-read=notes.txt --allow-write=folder
async function tell(work: () => unknown) {
  try {
    console.log(await work());
  } catch (error) {
    console.log((error as Error).name, "");
  }
}
await tell(() => Deno.copyFile("notes.txt", "copy.txt"));
await tell(() => Deno.copyFile("secret.txt", "folder/copy.txt"));
await tell(() => Deno.copyFile("notes.txt", "folder/copy.txt"));
