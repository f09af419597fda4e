import type { Initialized, PluginLink, ToolCall, ToolNews } from "./plugin-link.ts";

/** What differs from one major of clawd.plugin to the next: its PluginService. Errors are those of the wire. */
export type PluginCore = {
  readonly major: number;
  initialize(facts: Parameters<PluginLink["initialize"]>[0], signal: AbortSignal): Promise<Initialized>;
  listTools(signal: AbortSignal): Promise<readonly string[]>;
  configure(
    config: Parameters<PluginLink["configure"]>[0],
    signal: AbortSignal,
  ): Promise<{ readonly problem: string; readonly restartRequired: boolean }>;
  /** News of a kind that this host does not know come from a newer library and are passed over. */
  callTool(call: ToolCall, signal: AbortSignal, timeoutMs: number): AsyncIterable<ToolNews>;
  drain(timeLimitMs: number): Promise<unknown>;
  shutdown(reason: string, timeoutMs: number): Promise<unknown>;
};
