// flags: --allow-net=*.example.com,10.0.0.0/8,[fc00::1],127.0.0.1
for (const host of ["example.com", "a.b.example.com", "evil-example.com", "10.1.2.3", "10.1.2.3:80", "11.0.0.1", "[fc00::1]", "[::ffff:127.0.0.1]:80", "localhost"]) {
  const { state, partial } = await Deno.permissions.query({ name: "net", host });
  console.log(host, state, partial);
}
