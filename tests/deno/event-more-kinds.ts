// flags:
const message = new MessageEvent("m", { data: { a: 1 }, origin: "o", lastEventId: "7" });
console.log(message.data, message.origin, message.lastEventId, message.source, message.ports, message instanceof Event);
const close = new CloseEvent("c", { code: 1000, reason: "done", wasClean: true });
console.log(close.code, close.reason, close.wasClean);
const promise = Promise.resolve();
const rejection = new PromiseRejectionEvent("r", { promise, reason: "why" });
console.log(rejection.promise === promise, rejection.reason);
