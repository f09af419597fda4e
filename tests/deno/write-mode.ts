// flags: --allow-read=. --allow-write=.
await Deno.writeTextFile("private.txt", "x", { mode: 0o600 });
console.log((((await Deno.stat("private.txt")).mode ?? 0) & 0o777).toString(8));
