import type { JsonValue } from "@bufbuild/protobuf";
import { fromJson, toJson } from "@bufbuild/protobuf";
import { ListValueSchema, type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter } from "@connectrpc/connect";
import {
  DaemonService,
  HookAdminService,
  JournalService,
  PluginAdminService,
  ScriptService,
} from "../../proto/gen/clawd/v1/admin_pb.ts";
import type {
  DaemonAdmin,
  HookAdmin,
  JournalAudit,
  JournalQuery,
  McpAdmin,
  PluginAdmin,
  ScriptNews,
  ScriptRunner,
  ScriptTestNews,
} from "../domain/admin.ts";
import { failureToProto, unreachable } from "../domain/failure.ts";
import type { HookAnswer } from "../domain/hook.ts";
import type { Memory } from "../domain/memory.ts";
import type { ProfileAdmin } from "../domain/profile.ts";
import type { SessionRegistry } from "../session/session-registry.ts";
import { unwrap } from "./connect-failure.ts";
import { routeMcp } from "./mcp-service.ts";
import { routeMemory } from "./memory-service.ts";
import { routeProfile } from "./profile-service.ts";

/** What the admin doors open to; the daemon hands it over whole. */
export type Admin = {
  readonly daemon: DaemonAdmin;
  readonly plugins: PluginAdmin;
  readonly mcp: McpAdmin;
  readonly hooks: HookAdmin;
  readonly scripts: ScriptRunner;
  readonly memory: Memory;
  readonly profile: ProfileAdmin;
  readonly query: JournalQuery;
  readonly audit: JournalAudit;
};

/** Puts every service but the sessions' on the router. */
export function routeAdmin(router: ConnectRouter, admin: Admin, sessions: SessionRegistry): void {
  routeDaemon(router, admin, sessions);
  routePlugins(router, admin.plugins);
  routeMcp(router, admin.mcp);
  routeHooks(router, admin.hooks);
  routeMemory(router, admin.memory);
  routeProfile(router, admin.profile);
  routeJournals(router, admin);
  router.service(ScriptService, {
    async *runScript(request, { signal }) {
      for await (const news of admin.scripts.run(request, signal)) yield scriptNews(news);
    },
    async answerScript({ questionId, allowed, allOfKind }) {
      unwrap(admin.scripts.answer({ questionId, allowed, allOfKind }));
      return {};
    },
    async feedScript({ runId, data, end, signal }) {
      unwrap(admin.scripts.feed({ runId, data, end, signal }));
      return {};
    },
  });
}

function routeDaemon(router: ConnectRouter, { daemon, plugins, hooks }: Admin, sessions: SessionRegistry): void {
  router.service(DaemonService, {
    async status() {
      const { problems, ...status } = await daemon.status();
      return {
        ...status,
        plugins: [...plugins.list()],
        hooks: [...(await hooks.list())],
        busySessions: sessions.busy(),
        problems: problems.map(failureToProto),
      };
    },
    async doctor() {
      return { checks: [...(await daemon.doctor())] };
    },
    async shutdown() {
      daemon.shutdown();
      return {};
    },
  });
}

function routePlugins(router: ConnectRouter, plugins: PluginAdmin): void {
  router.service(PluginAdminService, {
    listPlugins: async () => ({ plugins: [...plugins.list()], folder: plugins.pluginsDir }),
    async installPlugin({ folder, grant, trust, upgrade, manifestSha256 }) {
      if (grant) return unwrap(await plugins.install(folder, trust, manifestSha256));
      return unwrap(await (upgrade ? plugins.upgrade(folder, trust, manifestSha256) : plugins.look(folder, trust)));
    },
    async removePlugin({ name }) {
      return { notes: [...unwrap(await plugins.remove(name))] };
    },
    async grantPlugin({ name, permissions, trust }) {
      const { granted, version } = unwrap(await plugins.grant(name, permissions, trust));
      return { granted: [...granted], version };
    },
    async revokePlugin({ name, permissions, trust }) {
      return { granted: [...unwrap(await plugins.revoke(name, permissions, trust)).granted] };
    },
    async enablePlugin({ name, enabled }) {
      unwrap(await plugins.enable(name, enabled));
      return {};
    },
    async reloadPlugin({ name }) {
      unwrap(await plugins.reload(name));
      return {};
    },
    readPluginLog: async ({ name }) => ({ lines: [...unwrap(plugins.log(name))] }),
    async enrolPlugin({ name, address, lifeMs, services }) {
      return unwrap(await plugins.enrol(name, { address, services }, lifeMs));
    },
    async unenrolPlugin({ name }) {
      unwrap(await plugins.unenrol(name));
      return {};
    },
  });
}

function routeHooks(router: ConnectRouter, hooks: HookAdmin): void {
  router.service(HookAdminService, {
    listHooks: async () => ({ hooks: [...(await hooks.list())] }),
    addHook: async ({ file }) => ({ hook: unwrap(await hooks.add(file)) }),
    async removeHook({ name }) {
      unwrap(await hooks.remove(name));
      return {};
    },
    async enableHook({ name, enabled }) {
      unwrap(await hooks.enable(name, enabled));
      return {};
    },
    async testHook({ name, point, value }) {
      const event = value === undefined ? {} : toJson(ValueSchema, value);
      const { answer, because, ms, log } = unwrap(await hooks.test(name, point, event));
      const given = answerValue(answer);
      return { verdict: answer.do, because, ms, log: [...log], ...(given === undefined ? {} : { value: given }) };
    },
  });
}

function answerValue(answer: HookAnswer): Value | undefined {
  if (answer.do === "modify") return fromJson(ValueSchema, answer.value);
  return answer.do === "answer" ? fromJson(ValueSchema, answer.result) : undefined;
}

function routeJournals(router: ConnectRouter, { query, audit }: Admin): void {
  router.service(JournalService, {
    async query({ sql }, { signal }) {
      const { columns, rows, truncated } = unwrap(await query.query(sql, signal));
      return { columns: [...columns], rows: rows.map((row) => fromJson(ListValueSchema, row as JsonValue)), truncated };
    },
    async verify({ sessionId }) {
      const audited = await audit.verify(sessionId);
      return {
        journals: audited.map(({ name, chain }) =>
          chain.ok ? { sessionId: name, ...chain.value } : { sessionId: name, failure: failureToProto(chain.failure) },
        ),
      };
    },
  });
}

function testNews(news: ScriptTestNews) {
  switch (news.at) {
    case "plan":
      return { kind: news.at, planned: news.planned, filteredOut: news.filteredOut, only: news.only };
    case "begun":
      return { kind: news.at, path: [...news.path] };
    case "ended":
      return {
        ...{ kind: news.at, path: [...news.path] },
        ...{ outcome: news.outcome, ms: news.ms, error: news.error },
      };
    default:
      return unreachable(news);
  }
}

function scriptNews(news: ScriptNews) {
  switch (news.kind) {
    case "stdout":
    case "stderr":
      return { news: { case: news.kind, value: news.text } };
    case "question": {
      const { questionId, permission, expiresAtMs } = news;
      return { news: { case: "question" as const, value: { questionId, permission, expiresAtMs } } };
    }
    case "exit":
      return { news: { case: "exitCode" as const, value: news.code } };
    case "bytes": {
      const stream = news.to === "stdout" ? ("stdoutBytes" as const) : ("stderrBytes" as const);
      return { news: { case: stream, value: news.bytes as Uint8Array<ArrayBuffer> } };
    }
    case "input":
      return {
        news: { case: "inputWanted" as const, value: { runId: news.runId, limitBytes: news.limitBytes } },
      };
    case "signals":
      return { news: { case: "signals" as const, value: { runId: news.runId, names: [...news.names] } } };
    case "test":
      return { news: { case: "test" as const, value: testNews(news.news) } };
    default:
      return unreachable(news);
  }
}
