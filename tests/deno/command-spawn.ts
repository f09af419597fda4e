// flags: --allow-run=cat --allow-read=.
// needs: bubblewrap
const bytes = (text: string) => new TextEncoder().encode(text);
const child = new Deno.Command("cat", { stdin: "piped", stdout: "piped" }).spawn();
const writer = child.stdin.getWriter();
await writer.write(bytes("through "));
await writer.write(bytes("the pipe"));
await writer.close();
console.log(await child.stdout.text(), await child.status);
