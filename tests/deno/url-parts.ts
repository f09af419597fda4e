// flags:
const url = new URL("https://user:pa%20ss@EXAMPLE.com:8443/a/../b/./c?x=1&y=%20#frag");
for (const part of ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"] as const) {
  console.log(part, JSON.stringify(url[part]));
}
console.log(JSON.stringify({ url }), String(url));
