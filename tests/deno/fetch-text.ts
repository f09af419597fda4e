// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
const response = await fetch(`http://127.0.0.1:${Deno.args[0]}/text`);
console.log(response.status, response.ok, response.statusText, response.redirected, response.type);
console.log(response.headers.get("content-type"), response.headers.get("X-Corpus"), response.headers.get("none"));
console.log(new URL(response.url).pathname, response.bodyUsed);
console.log(await response.text(), response.bodyUsed);
try {
  await response.text();
} catch (error) {
  console.log((error as Error).name);
}
