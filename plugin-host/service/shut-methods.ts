import { fail, type Result } from "../../core/domain/failure.ts";
import type { HostMethods } from "./host-method.ts";

type Shut =
  | "ask"
  | "getValue"
  | "setValue"
  | "deleteValue"
  | "listKeys"
  | "getSecret"
  | "setSecret"
  | "writeArtifact"
  | "readArtifact"
  | "offer"
  | "generate";

/**
 * What a plugin of this machine may do unasked and one of another machine may not: fill this disk, and speak to people. It
 * logs, shows the progress of its calls, and does what it was granted by name.
 */
export function shutMethods(plugin: string): HostMethods<Shut> {
  const no = (): Result<never> =>
    fail("denied", `plugin "${plugin}" runs on another machine and may not use this service of its host`, {
      hint: `claw plugin enrol ${plugin} --services gives it`,
    });
  return {
    ask: no,
    getValue: no,
    setValue: no,
    deleteValue: no,
    listKeys: no,
    getSecret: no,
    setSecret: no,
    writeArtifact: no,
    readArtifact: no,
    offer: no,
    generate: no,
  };
}
