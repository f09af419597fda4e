// flags:
const scope = globalThis as unknown as Record<string, unknown>;
for (const name of ["onerror", "onunhandledrejection"]) {
  console.log(name in globalThis, scope[name]);
  scope[name] = 5;
  console.log(scope[name]);
  const object = {};
  scope[name] = object;
  console.log(scope[name] === object);
  scope[name] = null;
  console.log(scope[name]);
}
addEventListener("error", (event) => {
  console.log("a listener", event.message);
  event.preventDefault();
});
scope.onerror = function (this: unknown) {
  console.log("the attribute", this === globalThis);
};
addEventListener("error", () => console.log("a later listener"));
reportError(new Error("reported"));
scope.onerror = () => console.log("another, in the same place");
reportError(new Error("again"));
scope.onerror = null;
reportError(new Error("heard by listeners alone"));
scope.onunhandledrejection = (event: PromiseRejectionEvent) => {
  console.log(event.type, event.reason.message, event.promise instanceof Promise);
  event.preventDefault();
};
Promise.reject(new Error("unhandled"));
setTimeout(() => console.log("goes on"), 1);
