// flags: --allow-read=.
console.log(await Deno.readTextFile("link-to-notes"));
