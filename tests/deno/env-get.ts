// flags: --allow-env=CORPUS_NAME,CORPUS_EMPTY,CORPUS_UNSET
console.log(Deno.env.get("CORPUS_NAME"), Deno.env.get("CORPUS_EMPTY"), Deno.env.get("CORPUS_UNSET"));
console.log(Deno.env.has("CORPUS_NAME"), Deno.env.has("CORPUS_UNSET"));
