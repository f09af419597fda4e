// flags: --allow-read
console.log((await Deno.readTextFile("/proc/self/status")).length > 0);
