import { addressGranted } from "../permission/address.ts";
import { check, type Denied } from "../permission/grant.ts";
import type { Grant } from "../permission/permission.ts";

/** Why not, or undefined for yes. A judge may take its time: to ask a person, to record what was decided. */
export type Verdict = Denied | undefined | Promise<Denied | undefined>;

/** Judges where a connection may go. Both questions are asked for every connection, also for each hop of a redirect. */
export type AddressJudge = {
  /** Asked before the host is looked up, because a look-up tells strangers the name. `host` is in its one spelling. */
  name(host: string, port: number): Verdict;
  /**
   * Asked for one resolved address after the other until one is reached; exactly that address is dialled then.
   * @param isOwn true for an address of this machine, which is open only to a grant of the address itself
   */
  address(host: string, ip: string, port: number, isOwn: boolean): Verdict;
};

/** The judge that knows nothing but a grant. */
export function grantJudge(grant: Grant): AddressJudge {
  const whyNot = (judged: { readonly ok: true } | Denied) => (judged.ok ? undefined : judged);
  return {
    name: (host, port) => whyNot(check(grant, { kind: "net", host, port })),
    address: (host, ip, port, isOwn) => whyNot(addressGranted(grant, host, ip, port, isOwn)),
  };
}
