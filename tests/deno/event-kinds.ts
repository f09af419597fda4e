// flags:
const target = new EventTarget();
target.addEventListener("c", (event) => {
  event.preventDefault();
  console.log((event as CustomEvent).detail, event.cancelable, event.defaultPrevented);
});
console.log(target.dispatchEvent(new CustomEvent("c", { detail: { n: 1 }, cancelable: true })));
console.log(target.dispatchEvent(new CustomEvent("c", { detail: 2 })));
target.addEventListener("s", (event) => {
  event.stopImmediatePropagation();
  console.log("stops");
});
target.addEventListener("s", () => console.log("never"));
target.dispatchEvent(new Event("s"));
const event = new Event("e", { bubbles: true });
console.log(event.type, event.bubbles, event.cancelable, event.isTrusted, event.target, event.eventPhase);
class Own extends EventTarget {}
console.log(new Own() instanceof EventTarget);
