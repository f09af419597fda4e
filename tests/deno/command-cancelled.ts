// flags: --allow-run=sh
// needs: bubblewrap
// A shell that writes in vain ends, by the signal or by its failed write.
const child = new Deno.Command("sh", { args: ["-c", "while echo line; do :; done"], stdout: "piped", stderr: "null" }).spawn();
const reader = child.stdout.getReader();
console.log((await reader.read()).done);
await reader.cancel();
const { success, code, signal } = await child.status;
console.log(success || signal === "SIGPIPE");
