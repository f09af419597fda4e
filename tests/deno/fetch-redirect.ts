// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
const base = `http://127.0.0.1:${Deno.args[0]}`;
const followed = await fetch(`${base}/redirect`);
console.log(followed.status, followed.redirected, new URL(followed.url).pathname, await followed.text());
try {
  await fetch(`${base}/redirect`, { redirect: "error" });
} catch (error) {
  console.log((error as Error).name);
}
try {
  await fetch(`${base}/redirect-loop`);
} catch (error) {
  console.log((error as Error).name);
}
