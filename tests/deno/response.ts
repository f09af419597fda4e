// flags:
const response = new Response("body", { status: 201, statusText: "Made", headers: { "x-a": "1" } });
console.log(response.status, response.statusText, response.ok, response.headers.get("x-a"), response.headers.get("content-type"));
console.log(await response.text());
console.log(await Response.json({ a: 1 }).json(), Response.json(1).headers.get("content-type"));
console.log(new Response(null, { status: 204 }).body, Response.error().type, Response.error().status);
console.log(Response.redirect("http://a/", 302).headers.get("location"));
for (const status of [99, 600]) {
  try {
    new Response("", { status });
  } catch (error) {
    console.log((error as Error).name);
  }
}
console.log(new Uint8Array(await new Response(new Uint8Array([1, 2])).arrayBuffer()));
console.log(await new Response(new Blob(["a", "b"])).text(), (await new Response("x").blob()).size);
