// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
const echo = async (init: RequestInit) => {
  const response = await fetch(`http://127.0.0.1:${Deno.args[0]}/echo`, init);
  const { method, body, type, own } = await response.json();
  console.log(method, body, type, own);
};
await echo({ method: "POST", body: "text" });
await echo({ method: "post", body: JSON.stringify({ a: 1 }), headers: { "content-type": "application/json", "x-own": "1" } });
await echo({ method: "PUT", body: new Uint8Array([104, 105]) });
await echo({ method: "POST", body: new URLSearchParams({ a: "b c" }) });
await echo({ method: "DELETE" });
await echo({ method: "PATCH", body: "ü" });
