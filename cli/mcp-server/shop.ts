import type { House } from "./house.ts";
import type { ListNews } from "./list-news.ts";
import type { Offer, ToolChoice } from "./offered-tools.ts";
import type { PassedResources } from "./passed-resources.ts";

export type ServePlan = {
  readonly version: string;
  readonly workspace: string;
  readonly allow: readonly string[];
  readonly yolo: boolean;
  /** True where tools that may ask a model ask that of a client that offers one. */
  readonly clientModel: boolean;
  /** Which slash commands are prompts; none for those of plugins. */
  readonly prompts: readonly ToolChoice[];
};

/** What all clients of one `claw mcp serve` share. */
export type Shop = {
  readonly house: House;
  readonly offer: Offer;
  readonly plan: ServePlan;
  /** Resources of other servers; undefined for none. */
  readonly passed: PassedResources | undefined;
  readonly news: ListNews;
};
