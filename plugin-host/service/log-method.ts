import { ok } from "../../core/domain/failure.ts";
import { LogLevel } from "../../proto/gen/clawd/plugin/v1/host_pb.ts";
import type { LogRing } from "../link/log-ring.ts";
import type { HostMethods } from "./host-method.ts";

const LEVEL_NAMES: Readonly<Record<LogLevel, string>> = {
  [LogLevel.UNSPECIFIED]: "info",
  [LogLevel.DEBUG]: "debug",
  [LogLevel.INFO]: "info",
  [LogLevel.WARNING]: "warning",
  [LogLevel.ERROR]: "error",
};

/** Lines for the plugin's log, which counts what comes too fast instead of keeping it. */
export function logMethod(log: LogRing): HostMethods<"log"> {
  return {
    log({ level, message }) {
      log.add("log", `${LEVEL_NAMES[level] ?? "info"} ${message}`);
      return ok({});
    },
  };
}
