// flags: --allow-run=cat,wc --allow-read=.
// needs: bubblewrap
const first = new Deno.Command("cat", { args: ["notes.txt"], stdout: "piped" }).spawn();
const second = new Deno.Command("wc", { args: ["-l"], stdin: "piped", stdout: "piped" }).spawn();
await first.stdout.pipeTo(second.stdin);
console.log((await second.stdout.text()).trim());
