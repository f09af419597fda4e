import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  ProtocolErrorCode,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/server";

/**
 * Refuses a second "initialize", as the library does where clients have sessions: who a client is and whether it can be
 * asked holds as long as its connection. One that became another while a question was open could not be asked any more.
 *
 * @param wire hears messages already
 */
export function beginOnce(wire: Transport): void {
  let begun: { readonly id: RequestId } | undefined;
  const hear = wire.onmessage;
  wire.onmessage = (message, extra) => {
    if (isJSONRPCRequest(message) && message.method === "initialize") {
      if (begun !== undefined) {
        const error = { code: ProtocolErrorCode.InvalidRequest, message: "this connection has been initialized" };
        // A client that went away needs no refusal.
        wire.send({ jsonrpc: "2.0", id: message.id, error }).catch(() => undefined);
        return;
      }
      begun = { id: message.id };
    }
    hear?.(message, extra);
  };
  const send = wire.send.bind(wire);
  wire.send = (message, options) => {
    // What could not be read began nothing.
    if (begun !== undefined && isJSONRPCErrorResponse(message) && message.id === begun.id) begun = undefined;
    return send(message, options);
  };
}
