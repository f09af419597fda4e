import type { AddressJudge } from "../egress/address-judge.ts";
import type { Egress } from "../egress/egress.ts";
import type { Slots } from "../egress/slots.ts";
import type { FetchAnswer, FetchOrder } from "../guest/guest-protocol.ts";
import { addressGranted } from "../permission/address.ts";
import type { Denied } from "../permission/grant.ts";
import { type Permission, printPermission } from "../permission/permission.ts";
import type { Admission, Wanted } from "./judge.ts";
import { done, type Outcome, type Refused, refuse } from "./outcome.ts";
import { failureOutcome } from "./port-calls.ts";

/** Requests of one guest that are under way at once; others wait. */
export const REQUESTS_MAX = 6;
/** Methods that are asked for without changing anything. */
const HARMLESS_METHODS = ["GET", "HEAD", "OPTIONS"];

export type NetworkDesk = {
  readonly egress: Egress;
  admit(wanted: Wanted): Promise<Outcome<Admission>>;
  effect(): void;
};

/** One HTTP request of a guest's: every hop's host is judged before it is looked up, every address before it is dialled. */
export async function fetchForGuest(
  desk: NetworkDesk,
  order: FetchOrder,
  requests: Slots,
  signal: AbortSignal,
): Promise<Outcome<FetchAnswer>> {
  const fetched = requests.take(signal, async () => {
    const { judge, finish } = judgeHops(desk, !HARMLESS_METHODS.includes(order.method.toUpperCase()));
    const answer = await desk.egress.fetch(order, judge, signal);
    const refused = await finish();
    if (refused) return refused;
    return answer.ok ? done(answer.value) : failureOutcome(answer.failure, "TypeError");
  });
  try {
    return await fetched;
  } catch (cause) {
    if (!signal.aborted) throw cause;
    return refuse("Interrupted", "the request was given up before it began");
  }
}

/** @param changes true for a request that may change something where it arrives */
export function judgeHops(
  desk: NetworkDesk,
  changes: boolean,
): { readonly judge: AddressJudge; finish(): Promise<Refused | undefined> } {
  let admission: Admission | undefined;
  let wasRecorded = true;
  let refused: Refused | undefined;

  const turnDown = (refusal: Refused): Denied => {
    refused = refusal;
    return { ok: false, message: refusal.error.message, hint: "" };
  };
  const settle = async () => {
    if (admission && !wasRecorded) await admission.allow("");
    wasRecorded = true;
  };

  return {
    judge: {
      async name(host, port) {
        await settle();
        const permission: Permission = { kind: "net", host, port };
        const named = printPermission(permission).slice("net=".length);
        const admitted = await desk.admit({ permission, named, ground: async () => [permission] });
        if (!admitted.ok) return turnDown(admitted);
        admission = admitted.value;
        wasRecorded = false;
        return undefined;
      },
      async address(host, ip, port, isOwn) {
        if (admission === undefined) throw new Error("an address was judged before its host");
        wasRecorded = true;
        const granted = addressGranted(admission.grant, host, ip, port, isOwn);
        if (!granted.ok) {
          await admission.deny(ip, granted.message);
          return turnDown(notThere(host, port));
        }
        const written = await admission.allow(ip);
        if (!written.ok) return turnDown(written);
        if (changes) desk.effect();
        refused = undefined;
        return undefined;
      },
    },
    /** A host that was looked up in vain leaves a record, too. */
    async finish() {
      await settle();
      return refused;
    },
  };
}

/** Which address a name has is not the guest's to know; the record tells it to people. */
function notThere(host: string, port: number): Refused {
  const named = JSON.stringify(`${host}:${port}`);
  return refuse(
    "NotCapable",
    `Requires net access to the address that ${named} leads to, which its name does not open: it is private, special or denied`,
  );
}
