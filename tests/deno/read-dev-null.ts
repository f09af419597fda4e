// flags: --allow-read
console.log(JSON.stringify(await Deno.readTextFile("/dev/null")));
