// flags: --allow-env=CORPUS_*
console.log(Deno.env.get("CORPUS_NAME"), Deno.env.get("CORPUS_OTHER"));
try {
  Deno.env.get("PATH");
} catch (error) {
  console.log((error as Error).name);
}
