// flags:
console.log(globalThis instanceof EventTarget, Object.prototype.toString.call(globalThis), globalThis.constructor.name);
addEventListener("own", function (this: unknown, event) {
  console.log(this === globalThis, event.target === globalThis, event.currentTarget === globalThis);
});
dispatchEvent(new Event("own"));
globalThis.dispatchEvent(new Event("own"));
EventTarget.prototype.dispatchEvent.call(globalThis, new Event("own"));
console.log(Object.hasOwn(globalThis, "addEventListener"), addEventListener === EventTarget.prototype.addEventListener);
for (const wrong of [{}, 5, "text", Object.create(EventTarget.prototype)]) {
  try {
    EventTarget.prototype.addEventListener.call(wrong as EventTarget, "own", () => {});
    console.log("taken");
  } catch (error) {
    console.log((error as Error).name);
  }
}
