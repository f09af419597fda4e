// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
const socket = new WebSocket(`ws://127.0.0.1:${Deno.args[0]}/socket`, ["chat", "other"]);
socket.onopen = () => { console.log(socket.protocol); socket.close(); };
for (const wrong of [["a", "a"], ["with space"]]) try { new WebSocket("ws://127.0.0.1/", wrong); } catch (error) { console.log((error as Error).name); }
