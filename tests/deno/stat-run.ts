// flags: --allow-read
// stricter: D3
// says: NotCapable
console.log((await Deno.stat("/run")).isDirectory);
