// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
const response = await fetch(new URL(`http://127.0.0.1:${Deno.args[0]}/json`));
console.log(await response.clone().json(), new Uint8Array(await response.arrayBuffer()).length);
