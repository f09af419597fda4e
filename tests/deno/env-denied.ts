// flags: --allow-env --deny-env=CORPUS_OTHER
console.log(Deno.env.get("CORPUS_NAME"));
console.log(Deno.env.get("CORPUS_OTHER"));
