// flags: --allow-read=. --allow-write=.
const bytes = (text: string) => new TextEncoder().encode(text);
{
  using file = Deno.openSync("new.txt", { read: true, write: true, create: true });
  console.log(file.writeSync(bytes("hello world")), file.seekSync(6, Deno.SeekMode.Start));
  const into = new Uint8Array(16);
  console.log(file.readSync(into), new TextDecoder().decode(into.subarray(0, 5)), file.readSync(into));
  file.truncateSync(4);
  file.syncSync();
  file.syncDataSync();
  file.utimeSync(5, 6);
  const { size, mtime } = file.statSync();
  console.log(size, mtime?.getTime(), file.readSync(new Uint8Array(0)));
}
const made = Deno.createSync("made.txt");
made.close();
try {
  made.readSync(new Uint8Array(1));
} catch (error) {
  console.log((error as Error).name, (error as Error).message);
}
console.log(Deno.readTextFileSync("new.txt"), made instanceof Deno.FsFile);
