// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
const socket = new WebSocket(`ws://127.0.0.1:${Deno.args[0]}/socket`);
socket.binaryType = "arraybuffer";
socket.onopen = () => socket.send(new Uint8Array([1, 2, 250]));
socket.onmessage = ({ data }) => { console.log(data instanceof ArrayBuffer, new Uint8Array(data)); socket.close(); };
socket.onclose = ({ wasClean }) => console.log("closed", wasClean);
