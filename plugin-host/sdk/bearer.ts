import { createHash } from "node:crypto";
import type { Interceptor } from "@connectrpc/connect";

/** One message either way; the limit of most gRPC libraries. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** Shows a token with every call. */
export function showBearer(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
}

/** What is compared in place of a secret, so that neither length nor content leaks in time. */
export function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
