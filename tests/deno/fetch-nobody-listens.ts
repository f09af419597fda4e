// flags: --allow-net=127.0.0.1:1234
try {
  await fetch("http://127.0.0.1:1234/");
} catch (error) {
  console.log((error as Error).name);
}
