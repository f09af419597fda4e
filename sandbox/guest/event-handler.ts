/** The `onNAME` attributes of event targets. Runs inside the isolate. */

import type { Event, EventTarget } from "./events.ts";

type Callable = (...args: unknown[]) => unknown;

const { apply } = Reflect;

/** To answer with `false` prevents what the event would do. */
function giveEvent(handler: Callable, target: EventTarget, event: Event): void {
  if (apply(handler, target, [event]) === false) event.preventDefault();
}

/** An accessor `onNAME`. `call` runs a handler; objects that are no functions are kept, and do nothing. */
export function handlerProperty(type: string, call = giveEvent): PropertyDescriptor {
  const handlers = new WeakMap<object, { handler: object | null }>();
  return {
    get(this: object) {
      return handlers.get(this)?.handler ?? null;
    },
    set(this: EventTarget, value: unknown) {
      const handler = typeof value === "function" || typeof value === "object" ? value : null;
      const known = handlers.get(this);
      if (known) {
        known.handler = handler;
        return;
      }
      const made = { handler };
      handlers.set(this, made);
      this.addEventListener(type, (event: Event) => {
        if (typeof made.handler === "function") call(made.handler as Callable, this, event);
      });
    },
    enumerable: true,
    configurable: true,
  };
}
