// flags: --allow-run=sh --allow-read=.
// needs: bubblewrap
const child = new Deno.Command("sh", { args: ["-c", "echo out; echo err >&2; exit 3"], stdout: "piped", stderr: "piped" }).spawn();
console.log(await child.stdout.text(), await child.stderr.text(), await child.status);
const { code, stdout } = await new Deno.Command("sh", { args: ["-c", "echo again; exit 4"], stdout: "piped" }).spawn().output();
console.log(code, new TextDecoder().decode(stdout));
