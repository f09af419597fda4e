// flags: --allow-sys=networkInterfaces
// stricter: D9
// says: sys=networkInterfaces
console.log(Deno.networkInterfaces().length > 0);
