// flags:
const { port1, port2 } = new MessageChannel();
const got = new Promise<MessageEvent>((resolve) => { port2.onmessage = resolve; });
port1.postMessage({ list: [1, 2], when: new Date(0), map: new Map([["a", 1]]) });
const event = await got;
console.log(event.data, event.type, event.constructor.name, event.ports.length, event.origin);
port1.close();
port2.close();
