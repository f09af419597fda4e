// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
const socket = new WebSocket(`ws://127.0.0.1:${Deno.args[0]}/socket`);
const opened = Promise.withResolvers<void>();
socket.addEventListener("open", () => opened.resolve());
await opened.promise;
const got = new Promise<MessageEvent>((resolve) => socket.addEventListener("message", resolve, { once: true }));
socket.send(new Blob(["in a blob"]));
const { data } = await got;
console.log(data instanceof Blob, await data.text());
socket.close();
