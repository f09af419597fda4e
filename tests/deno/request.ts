// flags:
const request = new Request("http://example.com/a", { method: "post", body: "x", headers: { a: "b" } });
console.log(request.method, request.url, request.headers.get("a"), request.headers.get("content-type"), request.redirect);
const copy = new Request(request, { method: "PUT" });
console.log(copy.method, await copy.text(), request.bodyUsed);
for (const make of [() => new Request("nope"), () => new Request("http://a/", { method: "GET", body: "x" }), () => new Request("http://a/", { method: "CONNECT" })]) {
  try {
    make();
    console.log("made");
  } catch (error) {
    console.log((error as Error).name);
  }
}
