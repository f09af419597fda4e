// flags:
const { port1, port2 } = new MessageChannel();
const log: unknown[] = [];
const done = Promise.withResolvers<void>();
port2.addEventListener("message", (event) => { log.push(event.data); if (event.data === 3) done.resolve(); });
for (const n of [1, 2, 3]) port1.postMessage(n);
log.push("posted");
port2.start();
await done.promise;
console.log(log);
port1.close();
port2.close();
