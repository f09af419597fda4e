/** Headers, as the Fetch standard has them. Runs inside the isolate. */

type Pair = readonly [string, string];

/** Fields of one message at most. */
const FIELDS_MAX = 1000;

function headerName(name: unknown): string {
  const text = String(name);
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text)) throw new TypeError(`"${text}" is not a legal name of a header`);
  return text.toLowerCase();
}

function headerValue(value: unknown): string {
  const text = String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
  if (/[\0\n\r]/.test(text) || /[^\0-\xff]/.test(text))
    throw new TypeError(`"${text}" is not a legal value of a header`);
  return text;
}

/** Every header there is, one pair each, set-cookie several; in the order that iteration has. */
export let headerPairs: (headers: Headers) => Pair[];
/** From now on the headers cannot be changed. */
export let freezeHeaders: (headers: Headers) => void;

export class Headers {
  #list: Pair[] = [];
  #frozen = false;

  static {
    headerPairs = (headers) => headers.#sorted();
    freezeHeaders = (headers) => {
      headers.#frozen = true;
    };
  }

  constructor(init?: unknown) {
    if (init === undefined) return;
    if ((typeof init !== "object" && typeof init !== "function") || init === null)
      throw new TypeError("Headers are made of an object, a list of pairs or other Headers");
    if (init instanceof Headers) this.#list = [...init.#list];
    else if (Symbol.iterator in init) {
      for (const entry of init as Iterable<Iterable<unknown>>) {
        const pair = [...entry];
        if (pair.length !== 2) throw new TypeError("a header is a pair of a name and a value");
        this.append(pair[0], pair[1]);
      }
    } else for (const key of Object.keys(init)) this.append(key, (init as Record<string, unknown>)[key]);
  }

  append(name: unknown, value: unknown): void {
    const pair: Pair = [headerName(name), headerValue(value)];
    this.#change();
    if (this.#list.length >= FIELDS_MAX) throw new RangeError(`more than ${FIELDS_MAX} headers`);
    this.#list.push(pair);
  }

  set(name: unknown, value: unknown): void {
    const pair: Pair = [headerName(name), headerValue(value)];
    this.#change();
    const at = this.#list.findIndex(([key]) => key === pair[0]);
    this.#list = this.#list.filter(([key], index) => key !== pair[0] || index === at);
    if (at >= 0) this.#list[at] = pair;
    else this.append(name, value);
  }

  delete(name: unknown): void {
    const key = headerName(name);
    this.#change();
    this.#list = this.#list.filter(([other]) => other !== key);
  }

  get(name: unknown): string | null {
    const key = headerName(name);
    const values = this.#list.filter(([other]) => other === key).map(([, value]) => value);
    return values.length === 0 ? null : values.join(", ");
  }

  has(name: unknown): boolean {
    const key = headerName(name);
    return this.#list.some(([other]) => other === key);
  }

  getSetCookie(): string[] {
    return this.#list.filter(([key]) => key === "set-cookie").map(([, value]) => value);
  }

  forEach(callback: (value: string, name: string, headers: Headers) => void, thisArg?: unknown): void {
    if (typeof callback !== "function") throw new TypeError("Headers.forEach takes a function");
    for (const [name, value] of this) Reflect.apply(callback, thisArg, [value, name, this]);
  }

  *entries(): Generator<[string, string]> {
    for (let index = 0; ; index += 1) {
      const pair = this.#sorted()[index];
      if (!pair) return;
      yield [pair[0], pair[1]];
    }
  }

  *keys(): Generator<string> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): Generator<string> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): Generator<[string, string]> {
    return this.entries();
  }

  [Symbol.for("Deno.customInspect")](inspect: (value: unknown) => string): string {
    return `Headers ${inspect(Object.fromEntries(this.#sorted()))}`;
  }

  #sorted(): Pair[] {
    const names = [...new Set(this.#list.map(([name]) => name))].sort();
    return names.flatMap((name) =>
      name === "set-cookie"
        ? this.getSetCookie().map((value): Pair => [name, value])
        : [[name, this.get(name) ?? ""] satisfies Pair],
    );
  }

  #change(): void {
    if (this.#frozen) throw new TypeError("these headers cannot be changed");
  }

  get [Symbol.toStringTag](): string {
    return "Headers";
  }
}
