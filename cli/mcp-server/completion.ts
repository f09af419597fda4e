import type { CompleteRequestParams, CompleteResult } from "@modelcontextprotocol/server";
import type { House } from "./house.ts";
import { RESOURCE_TEMPLATES, resourceIds } from "./resources.ts";

/** The most that the protocol allows at once. */
const VALUES_MAX = 100;

/** Ids of sessions and notes that begin with what was written so far. */
export async function completeResource(
  house: House,
  workspace: string,
  { ref, argument }: CompleteRequestParams,
): Promise<CompleteResult> {
  const template =
    ref.type === "ref/resource" ? RESOURCE_TEMPLATES.find(({ uriTemplate }) => uriTemplate === ref.uri) : undefined;
  if (template === undefined || argument.name !== "id") return { completion: { values: [] } };
  const ids = (await resourceIds(house, workspace, template.name)).filter((id) => id.startsWith(argument.value));
  return { completion: { values: ids.slice(0, VALUES_MAX), total: ids.length, hasMore: ids.length > VALUES_MAX } };
}
