// flags: --allow-net
// stricter: D7
// says: 127.0.0.1 prompt
for (const host of ["example.com", "127.0.0.1", "localhost", "10.0.0.1"]) {
  console.log(host, (await Deno.permissions.query({ name: "net", host })).state);
}
