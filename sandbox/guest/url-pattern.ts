/** URLPattern: a library of its own. Runs inside the isolate. */

import { URLPattern } from "urlpattern-polyfill/urlpattern";
import { showMembers } from "./shown-members.ts";

const PARTS = ["protocol", "username", "password", "hostname", "port", "pathname", "search", "hash"];

export function urlPattern() {
  showMembers(URLPattern, [...PARTS, "hasRegExpGroups"]);
  return { URLPattern };
}
