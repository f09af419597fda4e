// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
for (const host of ["0x7f.1", "2130706433", "127.1"]) {
  console.log(await (await fetch(`http://${host}:${Deno.args[0]}/text`)).text());
}
