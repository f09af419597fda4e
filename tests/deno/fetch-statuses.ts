// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
for (const status of [201, 204, 404, 500]) {
  const response = await fetch(`http://127.0.0.1:${Deno.args[0]}/status/${status}`);
  console.log(response.status, response.ok, JSON.stringify(await response.text()));
}
