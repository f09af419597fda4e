// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
const socket = new WebSocket(`ws://127.0.0.1:${Deno.args[0]}/text`);
socket.onopen = () => console.log("open");
socket.onerror = (event) => console.log(event.type, event instanceof ErrorEvent);
socket.onclose = ({ wasClean }) => console.log("closed", wasClean, socket.readyState);
