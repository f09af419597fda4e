// flags: --allow-run=sh
// needs: bubblewrap
const { code, stdout, stderr } = await new Deno.Command("sh", { args: ["-c", "echo out; echo err >&2; exit 3"] }).output();
console.log(code, new TextDecoder().decode(stdout), new TextDecoder().decode(stderr));
