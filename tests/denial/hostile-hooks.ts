/** A hook that works against its daemon, and what its turn must come to. */
export type HostileHook = {
  /** Goes on after "a hook that". */
  readonly what: string;
  /** The body of `async (event, clawd) => {…}`; runs for the attacked call only. */
  readonly body: string;
  /** What the model reads in the tool's place. */
  readonly gives: RegExp;
  /** More of the header: a shorter timeout, permissions. `$WORK` is the folder of traps, `$PORT` the hostile server's port. */
  readonly header?: string;
  /** Stands before the hook, at the top level of its module. */
  readonly top?: string;
  /** Somebody is there who could answer its questions, and does not. */
  readonly attended?: boolean;
};

/** What stops whoever is stopped by nothing else; on a slow machine that may come before the limit that an attack aims at. */
export const STOPPED = /ran for 200 ms|did not stop when its time or memory was up|running time|memory|process/;

/** Those that keep a processor busy. */
export const BUSY: readonly HostileHook[] = [
  { what: "loops for ever", body: "for (;;);", gives: STOPPED },
  { what: "loops after it has waited", body: "await null; for (;;);", gives: STOPPED },
  { what: "loops at its top level", top: "if (globalThis.x === undefined) for (;;);", body: "", gives: STOPPED },
  {
    what: "loops in microtasks",
    body: "const again = () => Promise.resolve().then(again); await again();",
    gives: STOPPED,
  },
  {
    what: "queues microtasks for ever",
    body: "const again = () => queueMicrotask(again); again(); await new Promise(() => {});",
    gives: STOPPED,
  },
  {
    what: "works in timers without end",
    body: "setInterval(() => { const end = performance.now() + 150; while (performance.now() < end); }, 0); await new Promise(() => {});",
    gives: /running time|no answer/,
  },
  { what: "matches a pattern for ever", body: "/^(a+)+$/.test('a'.repeat(60) + 'b');", gives: STOPPED },
  { what: "sorts for ever", body: "[3, 1, 2].sort(() => { for (;;); });", gives: STOPPED },
  {
    what: "loops in a finally that nothing ends",
    body: "const f = () => { try { for (;;); } finally { f(); } }; f();",
    gives: STOPPED,
  },
  {
    what: "spreads a generator that never ends",
    body: "return [...(function* () { for (;;) yield 1; })()];",
    gives: STOPPED,
  },
  { what: "wedges a search", body: "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1);", gives: STOPPED },
  { what: "wedges a normalization", body: "'A\\u030a'.repeat(2e7).normalize();", gives: STOPPED },
  {
    what: "squares a number until it is too large",
    body: "let n = 3n; for (;;) n *= n;",
    gives: /200 ms|process|BigInt|memory/,
  },
  { what: "fills a huge array", body: "new Array(1e9).fill(0);", gives: STOPPED },
  {
    what: "compiles a pattern of nested groups",
    body: "new RegExp('('.repeat(5e4) + ')'.repeat(5e4)).test('a'); for (;;);",
    gives: /200 ms|process|Invalid regular|memory/,
  },
  {
    what: "compares huge texts",
    body: "'\\u00e4'.repeat(1e8).localeCompare('a\\u0308'.repeat(1e8)); for (;;);",
    gives: /200 ms|process|memory|Invalid string/,
  },
  {
    what: "encodes huge texts",
    body: "encodeURIComponent('\\u20ac'.repeat(1e8)); for (;;);",
    gives: /200 ms|process|memory|Invalid string|URI/,
  },
  { what: "loops when its answer is made JSON", body: "return { toJSON() { for (;;); } };", gives: STOPPED },
  {
    what: "throws a thing that loops when it is looked at",
    body: "throw new Proxy({}, { get() { for (;;); } });",
    gives: STOPPED,
  },
  {
    what: "throws an error whose parts loop",
    body: "const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { for (;;); } }); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e;",
    gives: STOPPED,
  },
  {
    what: "rejects with a thing that loops and that nobody catches",
    header: "timeout=2s",
    body: "Promise.reject(new Proxy({}, { get() { for (;;); }, getPrototypeOf() { for (;;); } })); await new Promise((done) => setTimeout(done, 1500));",
    gives: /process|no answer|200 ms|no output|innocent|I did/,
  },
  { what: "returns a thenable that loops", body: "return { then() { for (;;); } };", gives: STOPPED },
  {
    what: "prints a thing that loops",
    body: "console.log(new Proxy({}, { ownKeys() { for (;;); }, getPrototypeOf() { for (;;); } })); for (;;);",
    gives: STOPPED,
  },
];

/** Those that fill memory. */
export const HUNGRY: readonly HostileHook[] = [
  {
    what: "fills a map",
    body: "const m = new Map(); for (let i = 0; ; i++) { m.set(i, {}); if (i % 1e4 === 0) await null; }",
    gives: STOPPED,
  },
  { what: "asks for the largest array", body: "Array.from({ length: 2 ** 32 - 1 });", gives: STOPPED },
  { what: "fills arrays", body: "const a = []; for (;;) a.push(new Array(1e5).fill({}));", gives: STOPPED },
  {
    what: "piles up texts",
    body: "const a = []; for (let i = 0; ; i++) a.push(('x' + i).repeat(1e6).toUpperCase());",
    gives: STOPPED,
  },
  {
    what: "flattens a rope",
    body: "let s = 'x'; try { for (;;) s += s; } catch {} let n = 0; for (let i = 0; ; i++) n += s.charCodeAt(i % s.length);",
    gives: STOPPED,
  },
  {
    what: "holds buffers",
    body: "const a = []; for (;;) a.push(new Uint8Array(1 << 24).fill(1));",
    gives: /200 ms|process|memory|allocation/,
  },
  {
    what: "holds typed arrays",
    body: "const a = []; for (;;) a.push(new Float64Array(1 << 20).fill(1));",
    gives: /200 ms|process|memory|allocation/,
  },
  {
    what: "grows one buffer",
    body: "const b = new ArrayBuffer(0, { maxByteLength: 2 ** 31 }); for (let n = 1; ; n += 1 << 20) { b.resize(n); new Uint8Array(b).fill(1); }",
    gives: /200 ms|process|memory|allocation|RangeError/,
  },
  { what: "recurses for ever", body: "const f = () => f() + 1; f();", gives: /Maximum call stack/ },
  {
    what: "makes JSON of a deep thing",
    body: "let a = []; for (let i = 0; i < 1e6; i++) a = [a]; JSON.stringify(a);",
    gives: /Maximum call stack|200 ms|memory/,
  },
  {
    what: "reads a JSON bomb",
    body: "const s = '[' + '[],'.repeat(3e7) + '0]'; JSON.parse(s);",
    gives: /200 ms|process|memory|Invalid string|Maximum/,
  },
  {
    what: "piles up promises",
    body: "const a = []; for (;;) { a.push(new Promise(() => {})); if (a.length % 1e4 === 0) await null; }",
    gives: STOPPED,
  },
  {
    what: "clones without end",
    body: "let a = { x: [] }; for (;;) a = structuredClone({ a, b: a, c: structuredClone(a) });",
    gives: /200 ms|process|memory|Maximum|clone/,
  },
  {
    what: "doubles a blob",
    body: "let b = new Blob(['x'.repeat(1e6)]); for (;;) b = new Blob([b, b]);",
    gives: /200 ms|process|memory|RangeError|allocation/,
  },
  {
    what: "asks for random bytes without end",
    body: "const a = []; for (;;) a.push(crypto.getRandomValues(new Uint8Array(65536)));",
    gives: /200 ms|process|memory|messages/,
  },
];

/** Those that flood the bridge, or break its words. */
export const LOUD: readonly HostileHook[] = [
  { what: "never answers", body: "await new Promise(() => {});", gives: /waits for something that never comes/ },
  {
    what: "returns a thenable that never settles",
    body: "return { then() {} };",
    gives: /waits for something that never comes/,
  },
  {
    what: "answers too late",
    header: "timeout=500ms",
    body: "await new Promise((done) => setTimeout(done, 60_000));",
    gives: /no answer within 500 ms/,
  },
  {
    what: "floods the bridge with calls",
    body: "for (let i = 0; i < 1e5; i++) Deno.readTextFile('x').catch(() => {}); await new Promise(() => {});",
    gives: /messages|200 ms|process|never comes/,
  },
  {
    what: "has more calls open than it may",
    body: "return { answer: (await Promise.allSettled(Array.from({ length: 200 }, () => clawd.store.get('x')))).filter(({ status }) => status === 'rejected').length + ' were refused' };",
    gives: /136 were refused/,
  },
  {
    what: "sends a giant message",
    body: "await clawd.store.set('x', 'y'.repeat(1 << 25));",
    gives: /characters|200 ms|memory|large|bytes/,
  },
  {
    what: "prints a hundred thousand lines",
    body: "for (let i = 0; i < 1e5; i++) console.log('noise ' + i);",
    gives: /messages|200 ms|no attacked\.md/,
  },
  { what: "prints one giant line", body: "console.log('x'.repeat(1 << 26));", gives: /./ },
  {
    what: "sets a hundred thousand timers",
    body: "for (let i = 0; i < 1e5; i++) setTimeout(() => {}, i);",
    gives: /timers|./,
  },
  {
    what: "throws a giant error",
    body: "throw new Error('x'.repeat(1 << 23));",
    gives: /Error|characters|200 ms|sense/,
  },
  {
    what: "rejects ten thousand times",
    body: "for (let i = 0; i < 1e4; i++) Promise.reject(new Error('no')); await new Promise((done) => setTimeout(done, 100));",
    gives: /messages|200 ms|./,
  },
  {
    what: "answers with a giant text",
    body: "return { answer: 'x'.repeat(1 << 24) };",
    gives: /characters|200 ms|sense|large/,
  },
  {
    what: "answers with a million parts",
    body: "return { answer: Array.from({ length: 400_000 }, () => 1) };",
    gives: /sense|200 ms|characters|large/,
  },
  {
    what: "answers with a deep thing",
    body: "let a = []; for (let i = 0; i < 500; i++) a = [a]; return { answer: a };",
    gives: /makes no sense/,
  },
  { what: "answers with what is no JSON", body: "return { answer: 10n };", gives: /BigInt/ },
  {
    what: "dispatches events within events",
    body: "const t = new EventTarget(); t.addEventListener('x', () => t.dispatchEvent(new Event('x'))); t.dispatchEvent(new Event('x'));",
    gives: /./,
  },
  { what: "makes signals without end", body: "for (let i = 0; i < 1e5; i++) AbortSignal.timeout(1e6);", gives: /./ },
];

/** Those that keep the broker busy with what they are granted. */
export const GREEDY: readonly HostileHook[] = [
  {
    what: "fetches from a silent server",
    header: "timeout=1s\n @allow net=127.0.0.1:$PORT",
    body: "await fetch('http://127.0.0.1:$PORT/silent');",
    gives: /no answer within 1000 ms/,
  },
  {
    what: "fetches what never ends",
    header: "timeout=3s\n @allow net=127.0.0.1:$PORT",
    body: "await (await fetch('http://127.0.0.1:$PORT/endless')).text();",
    gives: /larger|bytes|limit|no answer/,
  },
  {
    what: "fetches what says it is huge",
    header: "timeout=3s\n @allow net=127.0.0.1:$PORT",
    body: "await (await fetch('http://127.0.0.1:$PORT/huge')).text();",
    gives: /larger|bytes|limit|no answer/,
  },
  {
    what: "fetches drop by drop",
    header: "timeout=1s\n @allow net=127.0.0.1:$PORT",
    body: "await (await fetch('http://127.0.0.1:$PORT/drops')).text();",
    gives: /no answer within 1000 ms/,
  },
  {
    what: "fetches a compressed bomb",
    header: "timeout=3s\n @allow net=127.0.0.1:$PORT",
    body: "await (await fetch('http://127.0.0.1:$PORT/bomb')).text();",
    gives: /larger|bytes|limit|no answer/,
  },
  {
    what: "fetches round and round",
    header: "timeout=3s\n @allow net=127.0.0.1:$PORT",
    body: "await fetch('http://127.0.0.1:$PORT/around');",
    gives: /redirect/,
  },
  {
    what: "fetches endless headers",
    header: "timeout=3s\n @allow net=127.0.0.1:$PORT",
    body: "await fetch('http://127.0.0.1:$PORT/headers');",
    gives: /TypeError|error|no answer/,
  },
  {
    what: "fetches sixty times at once",
    header: "timeout=1s\n @allow net=127.0.0.1:$PORT",
    body: "await Promise.all(Array.from({ length: 60 }, () => fetch('http://127.0.0.1:$PORT/silent')));",
    gives: /no answer within 1000 ms/,
  },
  {
    what: "reads a thousand times",
    header: "timeout=10s\n @allow read=$WORK",
    body: "for (let i = 0; i < 1000; i++) await Deno.readTextFile('$WORK/innocent.md'); return { answer: 'read' };",
    gives: /read|messages/,
  },
  {
    what: "reads sixty large files at once",
    header: "timeout=10s\n @allow read=$WORK",
    body: "await Promise.all(Array.from({ length: 60 }, () => Deno.readFile('$WORK/large'))); return { answer: 'read' };",
    gives: /read|memory|200 ms|process|running time/,
  },
  {
    what: "reads a file of ten gigabytes",
    header: "timeout=10s\n @allow read=$WORK",
    body: "await Deno.readFile('$WORK/huge');",
    gives: /larger than/,
  },
  {
    what: "reads what never ends",
    header: "timeout=10s\n @allow read",
    body: "await Deno.readFile('/dev/zero');",
    gives: /larger than|Requires|NotCapable/,
  },
  {
    what: "reads a pipe that nobody writes to",
    header: "timeout=2s\n @allow read=$WORK",
    body: "await Deno.readFile('$WORK/pipe');",
    gives: /regular/,
  },
  {
    what: "writes to a pipe that nobody reads",
    header: "timeout=2s\n @allow read=$WORK write=$WORK",
    body: "await Deno.writeTextFile('$WORK/pipe', 'x');",
    gives: /regular|Error/,
  },
  {
    what: "lists a folder of a hundred thousand files",
    header: "timeout=20s\n @allow read=$WORK",
    body: "for await (const _ of Deno.readDir('$WORK/crowd'));",
    gives: /more than 10000 entries/,
  },
  {
    what: "lists it eight times at once",
    header: "timeout=20s\n @allow read=$WORK",
    body: "const list = async () => { for await (const _ of Deno.readDir('$WORK/crowd')); }; await Promise.all(Array.from({ length: 8 }, list));",
    gives: /more than 10000 entries/,
  },
  {
    what: "removes a large tree",
    header: "timeout=20s\n @allow read=$WORK write=$WORK",
    body: "await Deno.remove('$WORK/tree', { recursive: true }); return { answer: 'removed' };",
    gives: /removed|entries/,
  },
  {
    what: "makes folders without end",
    header: "timeout=3s\n @allow read=$WORK write=$WORK",
    body: "let p = '$WORK/deep'; for (;;) { p += '/' + 'd'.repeat(50); await Deno.mkdir(p, { recursive: true }); }",
    gives: /./,
  },
  {
    what: "writes without end",
    header: "timeout=2s\n @allow read=$WORK write=$WORK",
    body: "for (;;) await Deno.writeFile('$WORK/growing', new Uint8Array(1 << 20), { append: true });",
    gives: /./,
  },
  {
    what: "stores without end",
    header: "timeout=3s",
    body: "for (let i = 0; ; i++) await clawd.store.set('k' + i, i);",
    gives: /at most 100 times/,
  },
  {
    what: "stores the largest values",
    header: "timeout=3s",
    body: "for (let i = 0; ; i++) await clawd.store.set('v' + i, 'x'.repeat(60_000));",
    gives: /at most \d+ bytes|at most 100 times/,
  },
  {
    what: "searches memory without end",
    header: "timeout=2s\n @allow memory=query",
    body: "for (;;) await Promise.all(Array.from({ length: 50 }, () => clawd.memory.search('engine', 50)));",
    gives: /./,
  },
  {
    what: "calls tools without end",
    header: "timeout=3s\n @allow tool=read",
    body: "for (;;) await Promise.all(Array.from({ length: 50 }, () => clawd.tool('read', { path: 'innocent.md' })));",
    gives: /./,
  },
  {
    what: "asks for its state without end",
    header: "timeout=3s",
    body: "for (;;) await Deno.permissions.query({ name: 'read', path: '/etc/' + performance.now() });",
    gives: /messages|running time|no answer/,
  },
  {
    what: "asks a person who is not there",
    header: "timeout=3s",
    body: "for (let i = 0; i < 500; i++) await Deno.permissions.request({ name: 'read', path: '/etc/' + i }); return { answer: 'denied all' };",
    gives: /denied all|no answer within 3000 ms/,
  },
  {
    what: "asks a person who does not answer",
    attended: true,
    header: "timeout=3s",
    body: "await Promise.allSettled(Array.from({ length: 60 }, (_, i) => Deno.permissions.request({ name: 'net', host: 'h' + i }))); return { answer: 'denied all' };",
    gives: /denied all/,
  },
  {
    what: "asks for what is too long to be asked",
    attended: true,
    header: "timeout=3s",
    body: "const { state } = await Deno.permissions.request({ name: 'read', path: '/' + 'x'.repeat(1e5) }); return { answer: state };",
    gives: /./,
  },
];

/** Those that start programs; they need bubblewrap. */
export const FERTILE: readonly HostileHook[] = [
  {
    what: "starts a command that hangs",
    header: "timeout=1s\n @allow run=sleep",
    body: "await new Deno.Command('sleep', { args: ['1000'] }).output();",
    gives: /no answer within 1000 ms/,
  },
  {
    what: "starts a command that prints without end",
    header: "timeout=5s\n @allow run=yes",
    body: "await new Deno.Command('yes').output();",
    gives: /./,
  },
  {
    what: "starts four hundred programs at once",
    header: "timeout=3s\n @allow run=sh",
    body: "await new Deno.Command('sh', { args: ['-c', 'i=0; while [ $i -lt 400 ]; do sleep 1000 & i=$((i+1)); done; wait'] }).output(); return { answer: 'ended' };",
    gives: /no answer within 3000 ms|ended/,
  },
  {
    what: "leaves a daemon of its own behind",
    header: "timeout=5s\n @allow run=sh",
    body: "await new Deno.Command('sh', { args: ['-c', 'setsid sleep 4242 >/dev/null 2>&1 & exit 0'] }).output(); return { answer: 'left' };",
    gives: /left/,
  },
  {
    what: "starts a command that fills memory",
    header: "timeout=5s\n @allow run=sh",
    body: "await new Deno.Command('sh', { args: ['-c', 'x=x; while :; do x=$x$x; done'] }).output(); return { answer: 'ended' };",
    gives: /./,
  },
  {
    what: "starts sixty commands at once",
    header: "timeout=3s\n @allow run=sleep",
    body: "await Promise.all(Array.from({ length: 60 }, () => new Deno.Command('sleep', { args: ['1000'] }).output()));",
    gives: /./,
  },
];
