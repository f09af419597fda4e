// flags: --allow-net=127.0.0.1:{PORT}
// args: {PORT}
const socket = new WebSocket(`ws://127.0.0.1:${Deno.args[0]}/socket`);
const got: string[] = [];
socket.onopen = () => { for (let n = 0; n < 20; n += 1) socket.send(`${n}`); };
socket.onmessage = ({ data }) => { got.push(data); if (got.length === 20) { console.log(got.join()); socket.close(); } };
