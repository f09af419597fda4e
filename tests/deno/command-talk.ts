// flags: --allow-run=cat --allow-read=.
// needs: bubblewrap
const bytes = (text: string) => new TextEncoder().encode(text);
const child = new Deno.Command("cat", { stdin: "piped", stdout: "piped" }).spawn();
const writer = child.stdin.getWriter();
const reader = child.stdout.getReader();
for (const word of ["one", "two"]) {
  await writer.write(bytes(word));
  console.log(new TextDecoder().decode((await reader.read()).value));
}
await writer.close();
console.log((await reader.read()).done, (await child.status).code);
