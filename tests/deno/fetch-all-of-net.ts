// flags: --allow-net
// args: {PORT}
// stricter: D7
// says: --allow-net=127.0.0.1:{PORT}
console.log(await (await fetch(`http://127.0.0.1:${Deno.args[0]}/text`)).text());
