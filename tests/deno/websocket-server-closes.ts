// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
const socket = new WebSocket(`ws://127.0.0.1:${Deno.args[0]}/socket`);
socket.onopen = () => socket.send("close 4001");
socket.onclose = ({ code, wasClean }) => console.log("closed", code, wasClean);
