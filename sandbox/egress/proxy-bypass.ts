import { isLocalhost } from "../permission/host.ts";
import type { Grant } from "../permission/permission.ts";

/** Networks as wide as this may hold a loopback address without looking like it. */
const WIDE_NETWORK = /\/[0-7]$/;
const LOOPBACK = /^127\.|^::1?(\/|$)/;

/**
 * The hosts that a child reaches without the proxy, as NO_PROXY has them: its own loopback, where its own servers listen.
 * Where something of the machine's loopback was granted, that is what these names mean, and all goes through the proxy.
 */
export function bypassOf({ allow }: Grant): string {
  const opensLoopback = allow.some(
    (one) =>
      one.kind === "net" &&
      one.host !== undefined &&
      (isLocalhost(one.host.replace(/^\*\./, "")) || LOOPBACK.test(one.host) || WIDE_NETWORK.test(one.host)),
  );
  return opensLoopback ? "" : "localhost,127.0.0.1,::1";
}
