/** What this host does for plugins beyond the first release of each major, in the words of InitializeRequest.features. */
export const HOST_FEATURES: readonly string[] = [
  "kv",
  "artifacts",
  "ask",
  "call-tool",
  "hooks-stream",
  "offer",
  "forms",
  "secrets",
  "generate",
];
