// flags: --allow-run=sh
// needs: bubblewrap
const open = (script: string) =>
  new Deno.Command("sh", { args: ["-c", script], stdin: "piped", stdout: "piped", stderr: "null" }).spawn();

// A shell that writes after nobody reads any more is ended by the signal.
const later = open("echo line; read go; echo vain; echo vain; exit 3");
const lines = later.stdout.getReader();
console.log(new TextDecoder().decode((await lines.read()).value));
await lines.cancel();
const input = later.stdin.getWriter();
await input.write(new TextEncoder().encode("go\n"));
await input.close();
console.log(await later.status);

// One that stands in a write at that moment ends as well, by the signal or by its failed write.
const busy = open("while echo line; do :; done");
const reader = busy.stdout.getReader();
console.log((await reader.read()).done);
await reader.cancel();
await busy.stdin.close();
const { success, code, signal } = await busy.status;
console.log((success && code === 0) || signal === "SIGPIPE");
