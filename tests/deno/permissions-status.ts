// flags: --allow-env
const status = await Deno.permissions.query({ name: "env" });
const said: string[] = [];
status.onchange = () => void said.push("onchange");
status.addEventListener("change", (event) => said.push(event.type));
console.log(status.state, status.partial, status instanceof EventTarget);
await Deno.permissions.revoke({ name: "env" });
console.log(status.state, said.sort().join());
