/** Strings, keys and functions as `console.log` writes them inside of other values. Runs inside the isolate. */

const ESCAPES: Readonly<Record<string, string>> = {
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
  "\v": "\\v",
  "\\": "\\\\",
};

const QUOTES = ['"', "'", "`"];

/** In the first kind of quotes that the text has none of. */
export function quoted(text: string, escapes = true): string {
  const quote = QUOTES.find((mark) => !text.includes(mark)) ?? '"';
  if (!escapes) return quote + text.replaceAll(quote, `\\${quote}`) + quote;
  const safe = text
    .replace(/[\b\t\n\f\r\v\\]/g, (letter) => ESCAPES[letter] ?? letter)
    .replaceAll(quote, `\\${quote}`)
    .replace(/[\x00-\x1f\x7f-\x9f]/g, (letter) => `\\x${letter.charCodeAt(0).toString(16).padStart(2, "0")}`);
  return quote + safe + quote;
}

export function keyText(key: string | symbol, enumerable: boolean): string {
  if (typeof key === "symbol") return enumerable ? symbolText(key) : `[${symbolText(key)}]`;
  if (key === "__proto__") return '["__proto__"]';
  if (!enumerable) return `[${key}]`;
  return /^[A-Za-z_][A-Za-z_0-9]*$/.test(key) ? key : quoted(key);
}

function symbolText(symbol: symbol): string {
  return Symbol.prototype.toString.call(symbol);
}

export function numberText(value: number): string {
  return Object.is(value, -0) ? "-0" : `${value}`;
}

/** Everything but strings and objects. */
export function primitiveText(value: unknown): string {
  if (typeof value === "number") return numberText(value);
  if (typeof value === "bigint") return `${value}n`;
  return typeof value === "symbol" ? symbolText(value) : String(value);
}

export function isIndex(key: string | symbol): boolean {
  return typeof key === "string" && /^(?:0|[1-9]\d{0,9})$/.test(key);
}

/** `className` null for a value without one. */
export function prefixOf(className: string | null, tag: string, fallback: string, size = ""): string {
  if (className === null) {
    const name = `[${fallback}${size}: null prototype] `;
    return tag !== "" && tag !== fallback ? `${name}[${tag}] ` : name;
  }
  return tag !== "" && tag !== className ? `${className}${size} [${tag}] ` : `${className}${size} `;
}

function isClass(value: object): boolean {
  return /^class[\s{]/.test(Function.prototype.toString.call(value));
}

function classText(value: { readonly name?: unknown }, className: string | null, tag: string): string {
  const name =
    typeof value.name === "string" && Object.hasOwn(value, "name") && value.name !== "" ? value.name : "(anonymous)";
  const kind = className !== "Function" && className !== null ? ` [${className}]` : "";
  const label = tag !== "" && tag !== className ? ` [${tag}]` : "";
  if (className === null) return `[class ${name}${kind}${label} extends [null prototype]]`;
  const parent = (Object.getPrototypeOf(value) as { name?: unknown } | null)?.name;
  return `[class ${name}${kind}${label}${parent ? ` extends ${String(parent)}` : ""}]`;
}

export function functionText(value: { readonly name?: unknown }, className: string | null, tag: string): string {
  if (isClass(value)) return classText(value, className, tag);
  const own: unknown = (value as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag];
  const type = typeof own === "string" && /^(?:Async)?(?:Generator)?Function$/.test(own) ? own : "Function";
  const name = typeof value.name === "string" && value.name !== "" ? `: ${value.name}` : " (anonymous)";
  const prototype = className === null ? " (null prototype)" : "";
  const other = className !== null && className !== type && className !== "Function" ? ` ${className}` : "";
  const label = tag !== "" && tag !== className && tag !== type ? ` [${tag}]` : "";
  return `[${type}${prototype}${name}]${other}${label}`;
}
