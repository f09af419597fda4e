import {
  ClientCredentialsProvider,
  type OAuthClientProvider,
  PrivateKeyJwtProvider,
} from "@modelcontextprotocol/client";
import type { OwnKeySettings } from "./bridge-settings.ts";

/**
 * Logs in without a person, with a secret or a key that the owner got from the authorization server: `client_credentials`. Neither
 * goes to another authorization server than the one that it is of, whatever the server says. Tokens live as long as the process.
 */
export function ownKeyLogin({ clientId, clientSecret, scope, ownKey }: OwnKeySettings): OAuthClientProvider {
  const { issuer, privateKey, algorithm } = ownKey;
  const known = { clientId, clientName: "clawd", expectedIssuer: issuer, ...(scope === "" ? {} : { scope }) };
  return privateKey === ""
    ? new ClientCredentialsProvider({ ...known, clientSecret })
    : new PrivateKeyJwtProvider({ ...known, privateKey, algorithm });
}
