import { McpService } from "../../proto/gen/clawd/v1/mcp_pb.ts";
import { fail, ok, type Result } from "../trouble.ts";
import type { House } from "./house.ts";

/** Resources of other servers that one client may follow. */
const FOLLOWED_MAX = 32;

/** Tells a client that resources of other servers changed. */
export type ResourceFollowing = {
  /** Resolves when the server tells of it from now on. */
  add(server: string, uri: string): Promise<Result<void>>;
  remove(uri: string): void;
  close(): void;
};

export function followResources(house: House, workspace: string, changed: (uri: string) => void): ResourceFollowing {
  const followed = new Map<string, AbortController>();

  /** `begun` hears once whether it is followed. */
  async function follow(
    server: string,
    uri: string,
    over: AbortController,
    begun: (how: Result<void>) => void,
  ): Promise<void> {
    const asked = { name: server, workspace, uris: [uri] };
    let isFollowed = false;
    for await (const item of house.stream(McpService.method.followResources, asked, over.signal)) {
      if (!item.ok) {
        begun(item);
        break;
      }
      if (item.value.uri !== "") {
        changed(item.value.uri);
        continue;
      }
      isFollowed = true;
      begun(ok(undefined));
    }
    begun(fail("failed", `the server "${server}" ended before it told of ${uri}`));
    if (followed.get(uri) === over) followed.delete(uri);
    // It ended with its server or its daemon; whoever reads it finds out which.
    if (isFollowed && !over.signal.aborted) changed(uri);
  }

  function remove(uri: string): void {
    followed.get(uri)?.abort();
    followed.delete(uri);
  }
  return {
    add(server, uri) {
      if (followed.has(uri)) return Promise.resolve(ok(undefined));
      if (followed.size >= FOLLOWED_MAX) {
        const message = `this client follows ${FOLLOWED_MAX} resources already`;
        return Promise.resolve(fail("refused", message, "unsubscribe first"));
      }
      const over = new AbortController();
      followed.set(uri, over);
      return new Promise((resolve) => void follow(server, uri, over, resolve));
    },
    remove,
    close() {
      for (const uri of [...followed.keys()]) remove(uri);
    },
  };
}
