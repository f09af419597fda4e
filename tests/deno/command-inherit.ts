// flags: --allow-run=sh --allow-read=.
// needs: bubblewrap
console.log((await new Deno.Command("sh", { args: ["-c", "echo shown; echo said >&2"] }).spawn().status).success);
