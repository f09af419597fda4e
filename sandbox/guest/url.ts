/** URL and URLSearchParams over the state machine of whatwg-url. Runs inside the isolate, when they are first used. */

import * as machine from "whatwg-url/lib/url-state-machine.js";
import * as urlencoded from "whatwg-url/lib/urlencoded.js";

type Pair = [string, string];

/** Pairs of one query at most. */
const PAIRS_MAX = 100_000;

let follow: (params: URLSearchParams, changed: (query: string) => void) => void;
let replaceList: (params: URLSearchParams, list: Pair[]) => void;

function pairsOf(init: object): Pair[] {
  if (Symbol.iterator in init) {
    return Array.from(init as Iterable<Iterable<unknown>>, (entry) => {
      if (typeof entry !== "object" || entry === null)
        throw new TypeError("a parameter is a pair of a name and a value");
      const pair = [...entry];
      if (pair.length !== 2) throw new TypeError("a parameter is a pair of a name and a value");
      return [text(pair[0]), text(pair[1])];
    });
  }
  return Object.keys(init).map((key) => [text(key), text((init as Record<string, unknown>)[key])]);
}

function text(value: unknown): string {
  return String(value).toWellFormed();
}

function needArguments(given: number, count: number, what: string): void {
  if (given < count)
    throw new TypeError(`${what} needs ${count} argument${count > 1 ? "s" : ""}, but ${given} present`);
}

export class URLSearchParams {
  #list: Pair[] = [];
  #changed: (query: string) => void = () => {};

  static {
    follow = (params, changed) => {
      params.#changed = changed;
    };
    replaceList = (params, list) => {
      params.#list = list;
    };
  }

  constructor(init: unknown = "") {
    if ((typeof init === "object" || typeof init === "function") && init !== null) this.#list = pairsOf(init);
    else this.#list = urlencoded.parseUrlencodedString(text(init).replace(/^\?/, ""));
  }

  get size(): number {
    return this.#list.length;
  }

  append(name: unknown, value: unknown): void {
    needArguments(arguments.length, 2, "URLSearchParams.append");
    if (this.#list.length >= PAIRS_MAX) throw new RangeError(`more than ${PAIRS_MAX} parameters`);
    this.#list.push([text(name), text(value)]);
    this.#update();
  }

  delete(name: unknown, value?: unknown): void {
    needArguments(arguments.length, 1, "URLSearchParams.delete");
    this.#list = this.#list.filter((pair) => !this.#matches(pair, name, value));
    this.#update();
  }

  get(name: unknown): string | null {
    needArguments(arguments.length, 1, "URLSearchParams.get");
    const key = text(name);
    return this.#list.find((pair) => pair[0] === key)?.[1] ?? null;
  }

  getAll(name: unknown): string[] {
    needArguments(arguments.length, 1, "URLSearchParams.getAll");
    const key = text(name);
    return this.#list.filter((pair) => pair[0] === key).map((pair) => pair[1]);
  }

  has(name: unknown, value?: unknown): boolean {
    needArguments(arguments.length, 1, "URLSearchParams.has");
    return this.#list.some((pair) => this.#matches(pair, name, value));
  }

  set(name: unknown, value: unknown): void {
    needArguments(arguments.length, 2, "URLSearchParams.set");
    const key = text(name);
    const at = this.#list.findIndex((pair) => pair[0] === key);
    if (at < 0) this.#list.push([key, text(value)]);
    else {
      this.#list = this.#list.filter((pair, index) => pair[0] !== key || index === at);
      this.#list[at] = [key, text(value)];
    }
    this.#update();
  }

  sort(): void {
    this.#list.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
    this.#update();
  }

  forEach(callback: (value: string, name: string, params: URLSearchParams) => void, thisArg?: unknown): void {
    if (typeof callback !== "function") throw new TypeError("URLSearchParams.forEach takes a function");
    for (const [name, value] of this) Reflect.apply(callback, thisArg, [value, name, this]);
  }

  *entries(): Generator<Pair> {
    // By place: what is added or taken away while it runs counts.
    for (let index = 0; index < this.#list.length; index += 1) {
      const [name, value] = this.#list[index] as Pair;
      yield [name, value];
    }
  }

  *keys(): Generator<string> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): Generator<string> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): Generator<Pair> {
    return this.entries();
  }

  toString(): string {
    return urlencoded.serializeUrlencoded(this.#list);
  }

  [Symbol.for("Deno.customInspect")](inspect: (value: unknown) => string): string {
    return `URLSearchParams { ${this.#list.map(([name, value]) => `${inspect(name)} => ${inspect(value)}`).join(", ")} }`;
  }

  #matches(pair: Pair, name: unknown, value: unknown): boolean {
    return pair[0] === text(name) && (value === undefined || pair[1] === text(value));
  }

  #update(): void {
    this.#changed(this.toString());
  }

  get [Symbol.toStringTag](): string {
    return "URLSearchParams";
  }
}

function parse(url: unknown, base: unknown): machine.UrlRecord | null {
  if (base === undefined) return machine.basicURLParse(text(url));
  const parsedBase = machine.basicURLParse(text(base));
  return parsedBase && machine.basicURLParse(text(url), { baseURL: parsedBase });
}

export class URL {
  #url: machine.UrlRecord;
  readonly #params: URLSearchParams;

  constructor(url: unknown, base?: unknown) {
    needArguments(arguments.length, 1, "URL");
    const parsed = parse(url, base);
    if (!parsed)
      throw new TypeError(`Invalid URL: '${text(url)}'${base === undefined ? "" : ` with base '${text(base)}'`}`);
    this.#url = parsed;
    this.#params = new URLSearchParams(urlencoded.parseUrlencodedString(parsed.query ?? ""));
    follow(this.#params, (query) => {
      this.#url.query = query === "" ? null : query;
    });
  }

  static canParse(url: unknown, base?: unknown): boolean {
    needArguments(arguments.length, 1, "URL.canParse");
    return parse(url, base) !== null;
  }

  static parse(url: unknown, base?: unknown): URL | null {
    needArguments(arguments.length, 1, "URL.parse");
    return URL.canParse(url, base) ? new URL(url, base) : null;
  }

  get href(): string {
    return machine.serializeURL(this.#url);
  }
  set href(value: unknown) {
    const parsed = machine.basicURLParse(text(value));
    if (!parsed) throw new TypeError(`Invalid URL: '${text(value)}'`);
    this.#url = parsed;
    this.#readQuery();
  }

  get origin(): string {
    return machine.serializeURLOrigin(this.#url);
  }

  get protocol(): string {
    return `${this.#url.scheme}:`;
  }
  set protocol(value: unknown) {
    machine.basicURLParse(`${text(value)}:`, { url: this.#url, stateOverride: "scheme start" });
  }

  get username(): string {
    return this.#url.username;
  }
  set username(value: unknown) {
    if (!machine.cannotHaveAUsernamePasswordPort(this.#url)) machine.setTheUsername(this.#url, text(value));
  }

  get password(): string {
    return this.#url.password;
  }
  set password(value: unknown) {
    if (!machine.cannotHaveAUsernamePasswordPort(this.#url)) machine.setThePassword(this.#url, text(value));
  }

  get host(): string {
    return this.#url.port === null ? this.hostname : `${this.hostname}:${this.#url.port}`;
  }
  set host(value: unknown) {
    this.#override("host", value);
  }

  get hostname(): string {
    return this.#url.host === null ? "" : machine.serializeHost(this.#url.host);
  }
  set hostname(value: unknown) {
    this.#override("hostname", value);
  }

  get port(): string {
    return this.#url.port === null ? "" : `${this.#url.port}`;
  }
  set port(value: unknown) {
    if (machine.cannotHaveAUsernamePasswordPort(this.#url)) return;
    if (text(value) === "") this.#url.port = null;
    else machine.basicURLParse(text(value), { url: this.#url, stateOverride: "port" });
  }

  get pathname(): string {
    return machine.serializePath(this.#url);
  }
  set pathname(value: unknown) {
    if (machine.hasAnOpaquePath(this.#url)) return;
    this.#url.path = [];
    machine.basicURLParse(text(value), { url: this.#url, stateOverride: "path start" });
  }

  get search(): string {
    return this.#url.query === null || this.#url.query === "" ? "" : `?${this.#url.query}`;
  }
  set search(value: unknown) {
    const query = text(value).replace(/^\?/, "");
    this.#url.query = text(value) === "" ? null : "";
    if (text(value) !== "") machine.basicURLParse(query, { url: this.#url, stateOverride: "query" });
    this.#readQuery();
  }

  get searchParams(): URLSearchParams {
    return this.#params;
  }

  get hash(): string {
    return this.#url.fragment === null || this.#url.fragment === "" ? "" : `#${this.#url.fragment}`;
  }
  set hash(value: unknown) {
    const hash = text(value);
    this.#url.fragment = hash === "" ? null : "";
    if (hash !== "") machine.basicURLParse(hash.replace(/^#/, ""), { url: this.#url, stateOverride: "fragment" });
  }

  toString(): string {
    return this.href;
  }

  toJSON(): string {
    return this.href;
  }

  [Symbol.for("Deno.customInspect")](inspect: (value: unknown) => string): string {
    const { href, origin, protocol, username, password, host, hostname, port, pathname, hash, search } = this;
    return `URL ${inspect({ href, origin, protocol, username, password, host, hostname, port, pathname, hash, search })}`;
  }

  #override(state: string, value: unknown): void {
    if (!machine.hasAnOpaquePath(this.#url))
      machine.basicURLParse(text(value), { url: this.#url, stateOverride: state });
  }

  #readQuery(): void {
    replaceList(this.#params, urlencoded.parseUrlencodedString(this.#url.query ?? ""));
  }

  get [Symbol.toStringTag](): string {
    return "URL";
  }
}
