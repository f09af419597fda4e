import {
  InsufficientScopeError,
  OAuthError,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { toolError } from "../sdk/plugin.ts";
import { ToolError } from "../sdk/tool-error.ts";
import { LoginWantedError } from "./login.ts";
import { sayCause } from "./retrying-fetch.ts";
import { SilenceError } from "./silence.ts";

type Code = Parameters<typeof toolError>[0];
type FailureClass = { readonly code: Code; readonly retryable: boolean; readonly hint: string };

/** Every way in which a call of a server can fail, by the word that programs get. */
const CLASSES = {
  transient: { code: "unavailable", retryable: true, hint: "try again" },
  rate_limited: { code: "exhausted", retryable: true, hint: "wait, then try again" },
  server_error: { code: "unavailable", retryable: true, hint: "see what it wrote with: claw plugin logs" },
  invalid_input: { code: "invalid", retryable: false, hint: "" },
  auth_failure: { code: "denied", retryable: false, hint: "look at the headers or variables that it is given" },
  not_found: { code: "not_found", retryable: false, hint: "" },
  policy_blocked: { code: "denied", retryable: false, hint: "it may touch only what its entry allows: claw mcp show" },
} as const satisfies Record<string, FailureClass>;

export type FailureCategory = keyof typeof CLASSES;

/** What a tool throws: a failure in words for people, and its class for programs. */
export function classified(category: FailureCategory, message: string, hint?: string): Error {
  const { code, retryable, hint: usual } = CLASSES[category];
  return toolError(code, message, hint ?? usual, { category, retryable });
}

/** Whatever the library threw, as such a failure. `server` is the name that its owner gave it. */
export function classifyError(cause: unknown, server: string): Error {
  const said = (category: FailureCategory, what: string) => classified(category, `MCP server "${server}": ${what}`);
  // Said already, by the bridge itself.
  if (cause instanceof ToolError) return cause;
  if (cause instanceof SilenceError) return said("transient", cause.message);
  if (cause instanceof LoginWantedError || cause instanceof InsufficientScopeError) return loginWanted(server);
  if (cause instanceof UnauthorizedError || cause instanceof OAuthError) return said("auth_failure", cause.message);
  if (cause instanceof ProtocolError) return said(ofProtocol(cause.code), cause.message);
  if (cause instanceof SdkError) {
    const status = statusOf(cause);
    return said(status === undefined ? ofLibrary(cause.code) : ofStatus(status), cause.message);
  }
  return said("transient", sayCause(cause));
}

/** What is said of everything that wants a login first. */
export function loginWanted(server: string): Error {
  // The command stands in the message: of a hint the model would not hear.
  return classified("auth_failure", `MCP server "${server}": it wants you to log in: claw mcp login ${server}`, "");
}

function ofProtocol(code: number): FailureCategory {
  switch (code) {
    case ProtocolErrorCode.InvalidParams:
    case ProtocolErrorCode.InvalidRequest:
      return "invalid_input";
    case ProtocolErrorCode.MethodNotFound:
    case ProtocolErrorCode.ResourceNotFound:
      return "not_found";
    default:
      return "server_error";
  }
}

function ofLibrary(code: SdkErrorCode): FailureCategory {
  switch (code) {
    case SdkErrorCode.ClientHttpAuthentication:
    case SdkErrorCode.ClientHttpForbidden:
      return "auth_failure";
    case SdkErrorCode.CapabilityNotSupported:
      return "not_found";
    case SdkErrorCode.InvalidResult:
    case SdkErrorCode.UnsupportedResultType:
      return "server_error";
    default:
      return "transient";
  }
}

function ofStatus(status: number): FailureCategory {
  if (status === 401 || status === 403) return "auth_failure";
  if (status === 400 || status === 422) return "invalid_input";
  if (status === 429) return "rate_limited";
  return status >= 500 && status <= 599 ? "server_error" : "not_found";
}

/** The status of HTTP that an error of the library tells of. */
export function statusOf({ data }: SdkError): number | undefined {
  if (typeof data !== "object" || data === null || !("status" in data)) return undefined;
  return typeof data.status === "number" ? data.status : undefined;
}
