// flags: --allow-run=echo,false
// needs: bubblewrap
const { code, success, stdout, stderr, signal } = await new Deno.Command("echo", { args: ["hello", "a b"] }).output();
console.log(code, success, new TextDecoder().decode(stdout), stderr.length, signal);
const failed = await new Deno.Command("false").output();
console.log(failed.code, failed.success);
