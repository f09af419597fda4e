import type { ConnectRouter } from "@connectrpc/connect";
import { McpService } from "../../proto/gen/clawd/v1/mcp_pb.ts";
import type { McpAdmin } from "../domain/admin.ts";
import { failureToProto } from "../domain/failure.ts";
import { unwrap } from "./connect-failure.ts";
import { readFolder } from "./folder-path.ts";

/** The doors to the servers of the Model Context Protocol. */
export function routeMcp(router: ConnectRouter, mcp: McpAdmin): void {
  router.service(McpService, {
    async listServers({ workspace, waitForOffers }, { signal }) {
      if (waitForOffers) await mcp.learned(signal);
      const { servers, problems } = await mcp.list(workspace);
      return { servers: [...servers], problems: problems.map(failureToProto) };
    },
    async addServers({ servers = {}, replace }) {
      const { names, file } = unwrap(await mcp.add(servers, replace));
      return { names: [...names], file };
    },
    async removeServer({ name }) {
      return { file: unwrap(await mcp.remove(name)) };
    },
    async approveServer({ name, workspace, sha256 }) {
      unwrap(await mcp.approve(name, workspace, sha256));
      return {};
    },
    async beginLogin({ name, redirectUrl }) {
      return { authorizationUrl: unwrap(await mcp.beginLogin(name, redirectUrl)) };
    },
    async finishLogin({ name, query }) {
      unwrap(await mcp.finishLogin(name, query));
      return {};
    },
    async logout({ name }) {
      unwrap(await mcp.logout(name));
      return {};
    },
    async updateServer({ name, workspace }) {
      return unwrap(await mcp.update(name, workspace));
    },
    async listResources({ name, workspace }, { signal }) {
      return unwrap(await mcp.resources(name, unwrap(readFolder(workspace)), signal));
    },
    async *followResources({ name, workspace, uris }, { signal }) {
      for await (const uri of mcp.followResources(name, unwrap(readFolder(workspace)), uris, signal))
        yield { uri: unwrap(uri) };
    },
    async completeArgument({ name, workspace, ...argument }, { signal }) {
      const found = unwrap(await mcp.complete(name, unwrap(readFolder(workspace)), argument, signal));
      const { values, total, hasMore } = found;
      return { values: [...values], hasMore, ...(total === undefined ? {} : { total }) };
    },
    async reloadServers() {
      const { servers, problems } = await mcp.reload();
      return { servers, problems: problems.map(failureToProto) };
    },
  });
}
