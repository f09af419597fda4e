// flags:
// input: y\nname\n
console.log(alert("hear"), confirm("sure"), confirm(), prompt("name"), prompt("name", "default"), prompt());
console.log(alert.name, confirm.name, prompt.name, alert.length, confirm.length, prompt.length);
console.log(JSON.stringify(await new Response(Deno.stdin.readable).text()));
