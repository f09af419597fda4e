import { createHash, timingSafeEqual } from "node:crypto";
import type { ServiceImpl } from "@connectrpc/connect";
import type { FailureCode } from "../../core/domain/failure.ts";
import type { GenerationGrant } from "../../core/domain/generation-grant.ts";
import type { Recall } from "../../core/domain/memory.ts";
import type { TokenBucket } from "../../core/domain/token-bucket.ts";
import { HostService } from "../../proto/gen/clawd/plugin/v1/host_pb.ts";
import type { LogRing } from "../link/log-ring.ts";
import { MAX_MESSAGE_BYTES } from "../link/plugin-client.ts";
import { artifactMethods } from "./artifact-methods.ts";
import type { Artifacts } from "./artifacts.ts";
import { callMethods } from "./call-methods.ts";
import type { Decisions } from "./decisions.ts";
import { generateMethod } from "./generate-method.ts";
import type { AllHostMethods } from "./host-method.ts";
import { type Handler, type HostResponse, listenOnSocket, sayNo } from "./host-socket.ts";
import type { LiveCalls } from "./live-calls.ts";
import { logMethod } from "./log-method.ts";
import { offerMethod, type TakeOffer } from "./offer-method.ts";
import type { PluginRecords } from "./plugin-records.ts";
import { recallMethod } from "./recall-method.ts";
import { secretMethods } from "./secret-methods.ts";
import type { Secrets } from "./secrets.ts";
import { shutMethods } from "./shut-methods.ts";
import { valueMethods } from "./value-methods.ts";

/** What gRPC calls "unauthenticated". */
const GRPC_UNAUTHENTICATED = 16;
/** A person answers a question, a tool may run for long, and a model thinks. */
const WAITING = /\/(?:Ask|CallTool|Generate)$/;
const STRANGER = "the token of this call is missing or wrong";

export type HostServices = {
  readonly plugin: string;
  /** The token that this process shows. */
  readonly token: string;
  readonly decisions: Decisions;
  readonly log: LogRing;
  readonly recall: Recall;
  readonly calls: LiveCalls;
  readonly records: PluginRecords;
  /** What the plugin may write into its store. */
  readonly storeBudget: TokenBucket;
  readonly artifacts: Artifacts;
  readonly secrets: Secrets;
  /** Undefined when its manifest does not say that it offers tools while it runs. */
  readonly offer: TakeOffer | undefined;
  /** Undefined when its owner gave it no budget for models. */
  readonly generation: GenerationGrant | undefined;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  /** True for a plugin of another machine that nobody gave more: see `shutMethods`. */
  readonly isShut?: boolean;
};

/** Serves what the host does for one process of a plugin on a socket of that process alone. Rejects when it cannot listen. */
export async function serveHost(socketPath: string, services: HostServices): Promise<{ close(): void }> {
  const handler = await handleCalls(hostMethods(services));
  return listenOnSocket(socketPath, onlyWith(services.token, handler), ({ url }) => WAITING.test(url ?? ""));
}

function hostMethods(services: HostServices): AllHostMethods {
  const { plugin, decisions, log, recall, calls, records, storeBudget, artifacts, secrets, offer, isShut } = services;
  const open: AllHostMethods = {
    ...logMethod(log),
    ...recallMethod(recall, decisions, records.decided),
    ...callMethods(plugin, calls, decisions),
    ...valueMethods(plugin, records, storeBudget),
    ...artifactMethods(plugin, artifacts),
    ...secretMethods(plugin, secrets, log),
    ...offerMethod(plugin, offer),
    ...generateMethod(services),
  };
  return isShut === true ? { ...open, ...shutMethods(plugin) } : open;
}

/** Turns strangers away; nothing of theirs is looked at. */
function onlyWith(token: string, handler: Handler): Handler {
  const expected = digest(`Bearer ${token}`);
  return (request, response) => {
    if (timingSafeEqual(digest(request.headers.authorization ?? ""), expected)) return handler(request, response);
    // Answered when all of it has come, and is thrown away: a client that still sends takes an early answer for a breakdown.
    request.resume();
    request.once("end", () => refuse(response, request.headers["content-type"] ?? ""));
  };
}

function refuse(response: HostResponse, contentType: string): void {
  if (contentType.startsWith("application/grpc")) {
    const words = { "grpc-status": String(GRPC_UNAUTHENTICATED), "grpc-message": encodeURIComponent(STRANGER) };
    sayNo(response, 200, { "content-type": contentType, ...words }, "");
    return;
  }
  const headers = { "content-type": "application/json", "www-authenticate": "Bearer" };
  sayNo(response, 401, headers, JSON.stringify({ code: "unauthenticated", message: STRANGER }));
}

async function handleCalls(methods: AllHostMethods): Promise<Handler> {
  // Loaded here: a daemon that starts no plugin needs none of it.
  const { Code, ConnectError } = await import("@connectrpc/connect");
  const { connectNodeAdapter } = await import("@connectrpc/connect-node");
  const codes: Readonly<Record<FailureCode, number>> = {
    invalid: Code.InvalidArgument,
    not_found: Code.NotFound,
    conflict: Code.FailedPrecondition,
    denied: Code.PermissionDenied,
    cancelled: Code.Canceled,
    timed_out: Code.DeadlineExceeded,
    exhausted: Code.ResourceExhausted,
    unavailable: Code.Unavailable,
    lost: Code.Aborted,
    corrupt: Code.DataLoss,
  };

  function served<Name extends keyof AllHostMethods>(name: Name) {
    const method = methods[name];
    const serve = async (request: Parameters<typeof method>[0], context: { readonly signal: AbortSignal }) => {
      const answer = await (method as (...given: readonly unknown[]) => ReturnType<typeof method>)(
        request,
        context.signal,
      );
      if (answer.ok) return answer.value;
      const { code, message, hint, cause } = answer.failure;
      const words = hint === undefined ? message : `${message} (${hint})`;
      throw new ConnectError(words, codes[code], undefined, undefined, cause);
    };
    return [name, serve] as const;
  }

  const names = Object.keys(methods) as (keyof AllHostMethods)[];
  // The compiler does not follow a record that is made by its keys.
  const service = Object.fromEntries(names.map(served)) as unknown as ServiceImpl<typeof HostService>;
  return connectNodeAdapter({
    acceptCompression: [],
    readMaxBytes: MAX_MESSAGE_BYTES,
    writeMaxBytes: MAX_MESSAGE_BYTES,
    routes: (router) => router.service(HostService, service),
  });
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
