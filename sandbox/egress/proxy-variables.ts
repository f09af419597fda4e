/** Hold the proxy's URL. Some programs read the one spelling, some the other. */
export const PROXY_URL_VARIABLES = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "http_proxy",
  "https_proxy",
  "all_proxy",
] as const;

/** What the environment of a child says beside the URL; `bypass` are the hosts that it reaches without the proxy. */
export function proxySettings(bypass: string): Readonly<Record<string, string>> {
  return { NO_PROXY: bypass, no_proxy: bypass, NODE_USE_ENV_PROXY: "1" };
}
