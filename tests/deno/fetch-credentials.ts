// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
// stricter: D11
// says: TypeError
console.log((await fetch(`http://me:secret@127.0.0.1:${Deno.args[0]}/text`)).status);
