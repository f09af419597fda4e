// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
const response = await fetch(`http://127.0.0.1:${Deno.args[0]}/text`, { method: "HEAD" });
console.log(response.status, JSON.stringify(await response.text()));
