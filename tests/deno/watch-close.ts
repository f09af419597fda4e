// flags: --allow-read=. --allow-write=.
const watcher = Deno.watchFs("folder");
setTimeout(() => watcher.close(), 150);
for await (const event of watcher) console.log(event.kind);
console.log("closed");
