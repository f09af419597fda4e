// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
const response = await fetch(`http://127.0.0.1:${Deno.args[0]}/gzip`);
console.log((await response.text()).length);
