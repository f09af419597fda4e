import {
  type CompleteRequestParams,
  type CompleteResult,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { McpService } from "../../proto/gen/clawd/v1/mcp_pb.ts";
import { RESOURCE_TEMPLATES, type ResourceParts, resourceIds } from "./resources.ts";

/** The most that the protocol allows at once. */
const VALUES_MAX = 100;
const NOTHING: CompleteResult = { completion: { values: [] } };

/** Ids of sessions and notes that begin with what was written so far; what a passed-on template may go on with, its server says. */
export async function completeResource(
  parts: ResourceParts,
  { ref, argument, context }: CompleteRequestParams,
): Promise<CompleteResult> {
  if (ref.type !== "ref/resource") return NOTHING;
  const template = RESOURCE_TEMPLATES.find(({ uriTemplate }) => uriTemplate === ref.uri);
  if (template === undefined) return completePassed(parts, ref.uri, argument, context?.arguments ?? {});
  if (argument.name !== "id") return NOTHING;
  const { house, workspace } = parts;
  const ids = (await resourceIds(house, workspace, template.name)).filter((id) => id.startsWith(argument.value));
  return { completion: { values: ids.slice(0, VALUES_MAX), total: ids.length, hasMore: ids.length > VALUES_MAX } };
}

async function completePassed(
  { house, workspace, passed }: ResourceParts,
  uriTemplate: string,
  { name: argument, value }: CompleteRequestParams["argument"],
  others: Record<string, string>,
): Promise<CompleteResult> {
  const owner = await passed?.findTemplate(uriTemplate);
  if (owner === undefined) return NOTHING;
  const asked = { name: owner.name, workspace, uriTemplate, argument, value, others };
  const answer = await house.read(McpService.method.completeArgument, asked);
  if (!answer.ok) throw new ProtocolError(ProtocolErrorCode.InternalError, answer.trouble.message);
  const { values, total, hasMore } = answer.value;
  return { completion: { values, hasMore, ...(total === undefined ? {} : { total }) } };
}
