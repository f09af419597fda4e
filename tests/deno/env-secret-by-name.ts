// flags: --allow-env=CORPUS_API_KEY
console.log(Deno.env.get("CORPUS_API_KEY"));
