// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
const base = `http://127.0.0.1:${Deno.args[0]}`;
try {
  await fetch(`${base}/text`, { signal: AbortSignal.abort() });
} catch (error) {
  console.log((error as Error).name);
}
const controller = new AbortController();
setTimeout(() => controller.abort(new RangeError("enough")), 20);
try {
  await fetch(`${base}/never`, { signal: controller.signal });
} catch (error) {
  console.log((error as Error).name, (error as Error).message);
}
