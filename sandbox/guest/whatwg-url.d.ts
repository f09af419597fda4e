// The parts of whatwg-url that the guest's URL is made of. It has no types of its own.

declare module "whatwg-url/lib/url-state-machine.js" {
  export type UrlRecord = {
    scheme: string;
    username: string;
    password: string;
    host: unknown;
    port: number | null;
    path: string | string[];
    query: string | null;
    fragment: string | null;
  };
  /** Null for what is no URL, and for a part (`stateOverride`) that is refused. */
  export function basicURLParse(
    input: string,
    options?: { baseURL?: UrlRecord | null; url?: UrlRecord; stateOverride?: string },
  ): UrlRecord | null;
  export function serializeURL(url: UrlRecord): string;
  export function serializeURLOrigin(url: UrlRecord): string;
  export function serializeHost(host: unknown): string;
  export function serializePath(url: UrlRecord): string;
  export function setTheUsername(url: UrlRecord, username: string): void;
  export function setThePassword(url: UrlRecord, password: string): void;
  export function cannotHaveAUsernamePasswordPort(url: UrlRecord): boolean;
  export function hasAnOpaquePath(url: UrlRecord): boolean;
}

declare module "whatwg-url/lib/urlencoded.js" {
  export function parseUrlencodedString(input: string): [string, string][];
  export function serializeUrlencoded(pairs: readonly (readonly [string, string])[]): string;
}
