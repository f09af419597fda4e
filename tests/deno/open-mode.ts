// flags: --allow-read=. --allow-write=.
(await Deno.open("secret-made.txt", { write: true, create: true, mode: 0o600 })).close();
console.log(((await Deno.stat("secret-made.txt")).mode ?? 0).toString(8));
