// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
const socket = new WebSocket(`ws://127.0.0.1:${Deno.args[0]}/socket`);
console.log(socket.readyState, socket.url.startsWith("ws://127.0.0.1:"), socket.binaryType);
socket.onopen = () => { console.log("open", socket.readyState, JSON.stringify(socket.protocol)); socket.send("hello ü"); };
socket.onmessage = ({ data }) => { console.log(data); socket.close(1000, "bye"); };
socket.onclose = ({ code, reason, wasClean }) => console.log("closed", code, reason, wasClean, socket.readyState);
