// flags: --allow-net=10.0.0.0/8 --deny-net=10.9.0.0/16
// stricter: D1
// says: 10.9.1.1 denied
console.log("10.9.1.1", (await Deno.permissions.query({ name: "net", host: "10.9.1.1" })).state);
