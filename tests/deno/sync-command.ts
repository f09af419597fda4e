// flags: --allow-run=echo,false
// needs: bubblewrap
const { code, success, stdout, signal } = new Deno.Command("echo", { args: ["hello"] }).outputSync();
console.log(code, success, new TextDecoder().decode(stdout), signal);
console.log(new Deno.Command("false").outputSync().success);
try {
  new Deno.Command("echo", { stdin: "piped" }).outputSync();
} catch (error) {
  console.log((error as Error).name, (error as Error).message);
}
