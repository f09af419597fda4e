// flags: --allow-run=cat --allow-read=.
// needs: bubblewrap
// input: handed on
console.log((await new Deno.Command("cat", { stdin: "inherit", stdout: "piped" }).spawn().stdout.text()).length);
