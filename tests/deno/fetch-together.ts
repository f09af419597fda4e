// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
const texts = await Promise.all(Array.from({ length: 5 }, async () => (await fetch(`http://127.0.0.1:${Deno.args[0]}/text`)).text()));
console.log(texts);
