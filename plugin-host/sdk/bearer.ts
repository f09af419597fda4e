import { createHash, timingSafeEqual } from "node:crypto";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";

/** One message either way; the limit of most gRPC libraries. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** Lets a call in only with the right token. Digests are compared, so that neither length nor content leaks in time. */
export function requireBearer(token: string): Interceptor {
  const expected = digest(`Bearer ${token}`);
  return (next) => (request) => {
    if (!timingSafeEqual(digest(request.header.get("authorization") ?? ""), expected)) {
      throw new ConnectError("the token of this call is missing or wrong", Code.Unauthenticated);
    }
    return next(request);
  };
}

/** Shows a token with every call. */
export function showBearer(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
