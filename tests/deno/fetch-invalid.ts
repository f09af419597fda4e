// flags: --allow-net
for (const target of ["not a url", "/relative", "gopher://example.com/", "http://"]) {
  try {
    await fetch(target);
  } catch (error) {
    console.log(target, (error as Error).name);
  }
}
try {
  await fetch("http://example.com/", { method: "GET", body: "x" });
} catch (error) {
  console.log((error as Error).name);
}
