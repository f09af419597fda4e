// flags: --allow-env
const all = Deno.env.toObject();
console.log(all.CORPUS_NAME, all.CORPUS_EMPTY, all.CORPUS_UNSET, typeof all.PATH);
