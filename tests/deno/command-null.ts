// flags: --allow-run=sh --allow-read=.
// needs: bubblewrap
console.log(await new Deno.Command("sh", { args: ["-c", "echo hidden"], stdout: "null" }).spawn().status);
