// flags: --allow-run=cat --allow-read=.
// needs: bubblewrap
const { stdout } = await new Deno.Command("cat", { args: ["notes.txt"] }).output();
console.log(new TextDecoder().decode(stdout));
