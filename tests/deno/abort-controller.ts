// flags:
const controller = new AbortController();
const { signal } = controller;
signal.onabort = (event) => console.log("onabort", event.type, event.target === signal);
signal.addEventListener("abort", () => console.log("listener"));
console.log(signal.aborted, signal.reason);
controller.abort();
controller.abort("again");
console.log(signal.aborted, signal.reason.name, signal.reason instanceof DOMException);
try {
  signal.throwIfAborted();
} catch (error) {
  console.log((error as Error).name, (error as Error).message);
}
