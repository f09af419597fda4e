// flags: --allow-read=. --allow-write=.
const watcher = Deno.watchFs("folder");
setTimeout(() => Deno.writeTextFile("folder/new.txt", "x"), 150);
for await (const event of watcher) {
  console.log(event.kind, event.paths.map((path) => path.split("/").at(-1)), event.flag);
  break;
}
watcher.close();
console.log("closed");
