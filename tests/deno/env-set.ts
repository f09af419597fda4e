// flags: --allow-env=CORPUS_*
Deno.env.set("CORPUS_NEW", "made");
console.log(Deno.env.get("CORPUS_NEW"), Deno.env.has("CORPUS_NEW"));
Deno.env.set("CORPUS_NAME", "changed");
console.log(Deno.env.get("CORPUS_NAME"));
Deno.env.delete("CORPUS_NAME");
console.log(Deno.env.get("CORPUS_NAME"));
