// flags:
try {
  Deno.exit(4);
} finally {
  console.log("never");
}
