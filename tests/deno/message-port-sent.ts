// flags:
const outer = new MessageChannel();
const inner = new MessageChannel();
const got = new Promise<MessageEvent>((resolve) => { outer.port2.onmessage = resolve; });
outer.port1.postMessage({ port: inner.port2 }, [inner.port2]);
const { data, ports } = await got;
console.log(data.port instanceof MessagePort, ports.length, data.port === ports[0]);
const heard = new Promise((resolve) => { inner.port1.onmessage = ({ data }) => resolve(data); });
data.port.postMessage("through");
console.log(await heard);
for (const port of [outer.port1, outer.port2, inner.port1, data.port]) port.close();
