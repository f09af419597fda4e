/**
 * Stands in for `tr46` when whatwg-url is bundled: its tables are twice as large as all the rest, and only host names
 * beyond ASCII need them. Runs inside the isolate.
 */

declare const clawdLoad: (name: string) => unknown;

type Idna = { toASCII(domain: string, options: object): string | null };

export function toASCII(domain: string, options: object): string | null {
  return (clawdLoad("idna") as Idna).toASCII(domain, options);
}
