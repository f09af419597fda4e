// flags: --allow-read=. --allow-write=.
await Deno.chmod("folder", 0o750);
console.log(((await Deno.stat("folder")).mode ?? 0).toString(8));
