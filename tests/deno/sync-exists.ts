// flags: --allow-read=.
function existsSync(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
console.log(existsSync("notes.txt"), existsSync("nothing"), existsSync("folder/inner.txt"));
