// flags: --allow-read=.
console.log(JSON.stringify(await Deno.readTextFile("notes.txt")));
console.log(JSON.stringify(await Deno.readTextFile("./folder/inner.txt")));
console.log(JSON.stringify(await Deno.readTextFile("folder/../notes.txt")));
console.log(JSON.stringify(await Deno.readTextFile("empty.txt")));
