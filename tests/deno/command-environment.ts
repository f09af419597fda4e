// flags: --allow-run=printenv
// needs: bubblewrap
const command = new Deno.Command("printenv", { args: ["OWN"], env: { OWN: "given" }, clearEnv: true });
console.log(new TextDecoder().decode((await command.output()).stdout));
