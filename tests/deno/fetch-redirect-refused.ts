// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
await fetch(`http://127.0.0.1:${Deno.args[0]}/redirect-away`);
console.log("never");
