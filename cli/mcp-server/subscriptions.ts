import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, type Server } from "@modelcontextprotocol/server";
import { followResources } from "./follow-resources.ts";
import { type ResourceParts, sessionOf } from "./resources.ts";
import { openSessionWatch } from "./watch-sessions.ts";

/** Lets the client of a connection follow sessions and resources of other servers, as long as that lasts. */
export function serveSubscriptions(server: Server, { house, workspace, passed }: ResourceParts): void {
  const following = followResources(house, workspace, (uri) => {
    server.sendResourceUpdated({ uri }).catch(() => undefined);
  });
  const watch = openSessionWatch(house, (sessionId) => {
    // A client that went away needs no news.
    server.sendResourceUpdated({ uri: `clawd://session/${sessionId}` }).catch(() => undefined);
  });
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    const owner = await passed?.find(uri);
    if (owner !== undefined) {
      const followed = await following.add(owner.name, uri);
      if (!followed.ok) throw new ProtocolError(ProtocolErrorCode.InvalidParams, followed.trouble.message);
      return {};
    }
    const sessionId = sessionOf(uri);
    // A note never changes: what takes its place is another.
    if (sessionId === undefined && !uri.startsWith("clawd://note/")) throw new ResourceNotFoundError(uri);
    if (sessionId !== undefined && !watch.add(sessionId)) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        "this client follows too many sessions; unsubscribe first",
      );
    }
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    watch.remove(sessionOf(uri) ?? "");
    following.remove(uri);
    return {};
  });
  const before = server.onclose;
  server.onclose = () => {
    watch.close();
    following.close();
    before?.();
  };
}
