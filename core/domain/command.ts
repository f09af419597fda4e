import type { JsonObject } from "@bufbuild/protobuf";

/** What may be asked of a session. Ids are made by the caller, so that deciding stays a pure function. */
export type Command =
  | {
      readonly kind: "open";
      readonly sessionId: string;
      readonly workspace: string;
      readonly model: string;
    }
  | {
      readonly kind: "say";
      readonly messageId: string;
      /** The turn to start when none runs. */
      readonly turnId: string;
      readonly text: string;
      /** "PROVIDER/NAME" that answers. */
      readonly model: string;
      readonly allow: readonly string[];
      readonly yolo: boolean;
      readonly attended: boolean;
    }
  | {
      readonly kind: "call";
      readonly callId: string;
      /** The turn to start when none runs. */
      readonly turnId: string;
      readonly tool: string;
      readonly args: JsonObject;
      /** The program that calls, in its own words. */
      readonly caller: string;
      readonly allow: readonly string[];
      readonly yolo: boolean;
    }
  | {
      readonly kind: "answer";
      readonly approvalId: string;
      readonly allowed: boolean;
      readonly scope: "once" | "session" | "always";
      /** What is filled in, for a question that has a schema. */
      readonly content?: JsonObject;
    }
  | { readonly kind: "interrupt" };
