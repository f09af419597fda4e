// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
for (const status of [302, 303, 307]) {
  const response = await fetch(`http://127.0.0.1:${Deno.args[0]}/redirect-to-echo/${status}`, { method: "POST", body: "b" });
  const { method, body } = await response.json();
  console.log(status, method, body);
}
