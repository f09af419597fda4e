// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
const request = new Request(`http://127.0.0.1:${Deno.args[0]}/echo`, { method: "POST", body: "b", headers: [["x-own", "yes"]] });
console.log(request.method, request.headers.get("X-OWN"), request.bodyUsed);
const { method, body, own } = await (await fetch(request)).json();
console.log(method, body, own, request.bodyUsed);
