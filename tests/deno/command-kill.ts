// flags: --allow-run=sleep --allow-read=.
// needs: bubblewrap
const child = new Deno.Command("sleep", { args: ["30"] }).spawn();
child.kill();
console.log(await child.status);
