// flags: --allow-read=. --allow-write=.
// stricter: D4
// says: has a second name
(await Deno.open("twice.txt", { write: true })).close();
console.log("opened");
