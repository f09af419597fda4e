// flags: --allow-run=cat
// needs: bubblewrap
// stricter: D12
// says: exit 1
const { code } = await new Deno.Command("cat", { args: ["notes.txt"] }).output();
console.log("exit", code);
