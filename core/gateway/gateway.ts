import {
  DaemonService,
  HookAdminService,
  JournalService,
  MemoryService,
  PluginAdminService,
  ProfileService,
  ScriptService,
} from "../../proto/gen/clawd/v1/admin_pb.ts";
import { McpService } from "../../proto/gen/clawd/v1/mcp_pb.ts";
import { SessionService } from "../../proto/gen/clawd/v1/session_pb.ts";
import { ok, type Result } from "../domain/failure.ts";
import type { SessionRegistry } from "../session/session-registry.ts";
import { type Admin, routeAdmin } from "./admin-services.ts";
import { routeGrpcServices } from "./grpc-services.ts";
import { type Door, listenOnPort, listenOnSocket, requestHandler } from "./listen.ts";
import { sessionService } from "./session-service.ts";

const SERVICES = [
  SessionService,
  DaemonService,
  PluginAdminService,
  McpService,
  HookAdminService,
  MemoryService,
  ProfileService,
  JournalService,
  ScriptService,
];

export type GatewayOptions = {
  readonly socket: string;
  /** A loopback port, 0 for any free one, and the token it asks for; undefined for no port. */
  readonly tcp: { readonly port: number; readonly token: string } | undefined;
};

/** Opens the daemon's doors. Nothing else in the house listens. */
export async function openGateway(
  options: GatewayOptions,
  sessions: SessionRegistry,
  admin: Admin,
): Promise<Result<{ readonly tcpAddress: string; close(): Promise<void> }>> {
  const handler = requestHandler((router) => {
    router.service(SessionService, sessionService(sessions, admin.daemon));
    routeAdmin(router, admin, sessions);
    routeGrpcServices(router, SERVICES);
  });
  const doors: Door[] = [];
  const close = async () => {
    await Promise.all(doors.map((door) => door.close()));
  };
  if (options.tcp !== undefined) {
    const opened = await listenOnPort(options.tcp.port, options.tcp.token, handler);
    if (!opened.ok) return opened;
    doors.push(opened.value);
  }
  const tcpAddress = doors[0]?.address ?? "";
  // The socket last: whoever can dial it may rely on everything behind it.
  const opened = await listenOnSocket(options.socket, handler);
  if (!opened.ok) {
    await close();
    return opened;
  }
  doors.push(opened.value);
  return ok({ tcpAddress, close });
}
