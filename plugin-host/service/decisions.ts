import { type Failure, fail, ok, type Result } from "../../core/domain/failure.ts";
import type { PermissionDecision } from "../../core/domain/permission-decision.ts";
import { showableLine } from "../../core/domain/showable.ts";
import { openTokenBucket } from "../../core/domain/token-bucket.ts";
import { check } from "../../sandbox/permission/grant.ts";
import { type Grant, type Permission, printPermission } from "../../sandbox/permission/permission.ts";

/** Decisions about one process that are written down at once, and then a second: each is a line that is kept for good. */
const DECISIONS_AT_ONCE = 200;
const DECISIONS_PER_SECOND = 20;

/** Makes a decision durable; what it allows is not done when that fails. */
export type RecordDecision = (decision: PermissionDecision) => Promise<Result<void>>;

/** What one process of a plugin may do, each answer written down before it is given. */
export type Decisions = {
  /** A failure is what the plugin is told: `denied`, `exhausted` when it asks too often, or why it was not written down. */
  judge(permission: Permission, record: RecordDecision): Promise<Result<void>>;
  /** Something that was denied elsewhere, such as a connection by its proxy. */
  denied(permission: Permission, because: string): void;
  /** Writes down how many denials were left out, if any were. */
  close(): void;
};

export type DecisionParts = {
  readonly plugin: string;
  /** SHA-256 over the plugin's files, lower-case hex. */
  readonly filesSha256: string;
  readonly granted: Grant;
  /** For what belongs to no conversation. */
  readonly record: RecordDecision;
  readonly now: () => number;
};

export function openDecisions({ plugin, filesSha256, granted, record: recordAside, now }: DecisionParts): Decisions {
  const budget = openTokenBucket(DECISIONS_AT_ONCE, DECISIONS_PER_SECOND, now);
  let leftOut = 0;
  let lastLeftOut: PermissionDecision | undefined;

  function made(permission: Permission, allowed: boolean, because: string): PermissionDecision {
    return {
      principal: `plugin:${plugin}`,
      sourceHash: filesSha256,
      permission: showableLine(printPermission(permission)),
      resolved: "",
      allowed,
      by: "rule",
      because: showableLine(because),
      ms: 0,
      leftOut: 0,
    };
  }

  async function write(decision: PermissionDecision, record: RecordDecision): Promise<Result<void>> {
    const before = leftOut;
    leftOut = 0;
    lastLeftOut = undefined;
    const written = await record({ ...decision, leftOut: before });
    if (!written.ok) leftOut += before;
    return written;
  }

  /** A denial among too many is counted: it changes nothing, and its plugin may not fill the disk with it. */
  async function writeDenial(decision: PermissionDecision, record: RecordDecision): Promise<void> {
    if (budget.take(1)) {
      await write(decision, record);
      return;
    }
    leftOut += 1;
    lastLeftOut = decision;
  }

  return {
    async judge(permission, record) {
      const checked = check(granted, permission);
      if (!checked.ok) {
        const failure = denial(plugin, permission);
        await writeDenial(made(permission, false, checked.message), record);
        return { ok: false, failure };
      }
      if (!budget.take(1))
        return fail(
          "exhausted",
          `plugin "${plugin}" asks its host for more than ${DECISIONS_PER_SECOND} things a second`,
          {
            hint: "try again in a second",
          },
        );
      const rule = printPermission(checked.value);
      const written = await write(made(permission, true, `${rule} was granted`), record);
      return written.ok ? ok(undefined) : written;
    },
    denied: (permission, because) => void writeDenial(made(permission, false, because), recordAside),
    close() {
      if (lastLeftOut === undefined) return;
      leftOut -= 1;
      void write(lastLeftOut, recordAside);
    },
  };
}

function denial(plugin: string, permission: Permission): Failure {
  const wanted = showableLine(printPermission(permission));
  return {
    code: "denied",
    message: `plugin "${plugin}" may not use ${wanted}: it was not granted`,
    hint: `ask for "${wanted}" in plugin.json, and have it granted`,
  };
}
