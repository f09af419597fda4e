import { afterAll, beforeAll, expect, test } from "vitest";
import { type GuestRoom, openGuestRoom, valuesInDeno, valuesInNode } from "../fixtures/guest-room.ts";

let room: GuestRoom;
beforeAll(async () => {
  room = await openGuestRoom();
});
afterAll(() => room.close());

/** Where Node does not follow the standard to the letter. */
async function sameAsDeno(expressions: readonly string[]): Promise<void> {
  expect(await room.values(expressions)).toEqual(await valuesInDeno(room.folder, expressions));
}

async function sameAsNode(expressions: readonly string[]): Promise<void> {
  expect(await room.values(expressions)).toEqual(await valuesInNode(expressions));
}

/** Dispatches on a fresh target `t` after `setup`, and gives what `log` heard. */
function heard(setup: string, dispatch = "t.dispatchEvent(new Event('x', { cancelable: true }))"): string {
  return `((t, log) => { ${setup}; const result = ${dispatch}; return [log, result]; })(new EventTarget(), [])`;
}

test("events reach listeners in the order and by the rules that Deno has", async () => {
  await sameAsDeno([
    heard("t.addEventListener('x', () => log.push(1)); t.addEventListener('x', () => log.push(2), true)"),
    heard(
      "const f = () => log.push(1); t.addEventListener('x', f); t.addEventListener('x', f); t.addEventListener('x', f, true)",
    ),
    heard(
      "const f = () => log.push(1); t.addEventListener('x', f); t.removeEventListener('x', f, true); t.removeEventListener('x', () => {})",
    ),
    heard("const f = () => log.push(1); t.addEventListener('x', f); t.removeEventListener('x', f)"),
    heard(
      "t.addEventListener('x', () => log.push(1), { once: true })",
      "[1, 2].map(() => t.dispatchEvent(new Event('x')))",
    ),
    heard("t.addEventListener('x', (e) => e.preventDefault())"),
    heard("t.addEventListener('x', (e) => e.preventDefault(), { passive: true })"),
    heard("t.addEventListener('x', (e) => e.preventDefault())", "t.dispatchEvent(new Event('x'))"),
    heard(
      "t.addEventListener('x', (e) => { log.push(1); e.stopImmediatePropagation(); }); t.addEventListener('x', () => log.push(2))",
    ),
    heard(
      "t.addEventListener('x', (e) => { log.push(1); e.stopPropagation(); }); t.addEventListener('x', () => log.push(2))",
    ),
    heard("t.addEventListener('x', { handleEvent() { log.push(this !== globalThis); } })"),
    heard(
      "t.addEventListener('x', function (e) { log.push(this === t, e.target === t, e.currentTarget === t, e.eventPhase, e.composedPath().length); })",
    ),
    heard("t.addEventListener('x', () => t.addEventListener('x', () => log.push('late')))"),
    heard(
      "const f = () => log.push(2); t.addEventListener('x', () => t.removeEventListener('x', f)); t.addEventListener('x', f)",
    ),
    heard(
      "const c = new AbortController(); t.addEventListener('x', () => log.push(1), { signal: c.signal }); c.abort()",
    ),
    heard("t.addEventListener('x', () => log.push(1), { signal: AbortSignal.abort() })"),
    heard("t.addEventListener('x', null)"),
    heard(
      "const e = new Event('x'); t.addEventListener('x', () => { try { t.dispatchEvent(e); } catch (error) { log.push(error.name); } })",
      "t.dispatchEvent(e)",
    ),
    heard("", "t.dispatchEvent({ type: 'x' })"),
    heard(
      "",
      "((e) => { t.dispatchEvent(e); return [e.target === t, e.currentTarget, e.eventPhase, e.defaultPrevented]; })(new Event('x'))",
    ),
    "((e) => [e.type, e.bubbles, e.cancelable, e.composed, e.defaultPrevented, e.isTrusted, e.target, typeof e.timeStamp, e.returnValue, e.cancelBubble])(new Event('x', { bubbles: true }))",
    "new Event()",
    "[Event.NONE, Event.CAPTURING_PHASE, Event.AT_TARGET, Event.BUBBLING_PHASE, new Event('x').AT_TARGET]",
    "[new CustomEvent('x').detail, new CustomEvent('x', { detail: 5 }).detail, new CustomEvent('x') instanceof Event]",
    "[String(new Event('x')), String(new EventTarget()), String(new CustomEvent('x')), Event.name, CustomEvent.name]",
  ]);
});

test("signals are aborted as Deno's are", async () => {
  await sameAsDeno([
    "((c) => { c.abort(); return [c.signal.aborted, c.signal.reason.name, c.signal.reason.code, c.signal.reason instanceof DOMException]; })(new AbortController())",
    "((c) => { c.abort(5); c.abort(6); return c.signal.reason; })(new AbortController())",
    "((c, log) => { c.signal.onabort = (e) => log.push(e.type, e.target === c.signal); c.signal.addEventListener('abort', () => log.push(1)); c.abort(); c.abort(); return log; })(new AbortController(), [])",
    "((c, log) => { c.signal.onabort = () => log.push(1); c.signal.onabort = null; c.abort(); return [log, c.signal.onabort]; })(new AbortController(), [])",
    "AbortSignal.abort('why').reason",
    "AbortSignal.abort().throwIfAborted()",
    "AbortSignal.abort(new RangeError()).throwIfAborted()",
    "new AbortController().signal.throwIfAborted()",
    "new AbortSignal()",
    "((c) => { const any = AbortSignal.any([new AbortController().signal, c.signal]); c.abort('r'); return [any.aborted, any.reason]; })(new AbortController())",
    "[AbortSignal.any([]).aborted, AbortSignal.any([AbortSignal.abort('x')]).reason]",
    "((c, log) => { const one = AbortSignal.any([c.signal]); const two = AbortSignal.any([one]); two.addEventListener('abort', () => log.push('two', one.aborted)); one.addEventListener('abort', () => log.push('one', two.aborted)); c.signal.addEventListener('abort', () => log.push('c', one.aborted)); c.abort(); return log; })(new AbortController(), [])",
    "AbortSignal.any([{}])",
    "(async (s) => { await new Promise((go) => s.addEventListener('abort', go)); return [s.aborted, s.reason.name]; })((globalThis.keep = setTimeout(() => {}, 50), AbortSignal.timeout(1)))",
    "AbortSignal.timeout(-1)",
    "[AbortController.name, AbortSignal.name, String(new AbortController()), String(AbortSignal.abort())]",
  ]);
});

test("DOMException is Node's, but for its stack", async () => {
  const names = [
    "AbortError",
    "TimeoutError",
    "DataCloneError",
    "SyntaxError",
    "QuotaExceededError",
    "Mine",
    "IndexSizeError",
  ];
  await sameAsNode([
    ...names.map(
      (name) => `((e) => [e.name, e.message, e.code, String(e), e instanceof Error])(new DOMException('m', '${name}'))`,
    ),
    "((e) => [e.name, e.message, e.code, 'cause' in e])(new DOMException())",
    "new DOMException('m', { name: 'N', cause: 3 }).cause",
    "[DOMException.ABORT_ERR, new DOMException().DATA_CLONE_ERR, DOMException.VALIDATION_ERR]",
    "Object.getOwnPropertyNames(DOMException).filter((name) => name.endsWith('ERR')).sort()",
    "((e) => { try { e.name = 'x'; } catch {} return e.name; })(new DOMException('m', 'N'))",
    "Object.prototype.toString.call(new DOMException())",
  ]);
});

test("an error of a listener is told and keeps no other from being heard", async () => {
  const { said } = await room.run(`
    const t = new EventTarget();
    t.addEventListener("x", () => { throw new RangeError("mine"); });
    t.addEventListener("x", () => console.log("heard"));
    console.log(t.dispatchEvent(new Event("x")));`);
  expect(said).toMatchObject([
    { k: "fault", error: { name: "RangeError", message: "mine" } },
    { k: "log", text: "heard\n" },
    { k: "log", text: "true\n" },
    { k: "loaded" },
  ]);
});
