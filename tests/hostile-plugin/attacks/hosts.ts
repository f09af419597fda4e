import { type Attack, granted } from "../attack.ts";

const asks = (rpc: string, request: string) => `return json.dumps(host.call("${rpc}", ${request})) or True`;

/** What a plugin says to its host. */
export const HOST_ATTACKS: readonly Attack[] = [
  {
    name: "shows the token of another plugin on its own socket",
    code: `return Host(host.path, P["victimToken"]).call("ListKeys") or True`,
    told: /unauthenticated/,
    control: granted(`return host.call("ListKeys") or True`),
  },
  {
    name: "shows no token",
    code: `return Host(host.path, "").call("ListKeys") or True`,
    told: /unauthenticated/,
    control: granted(`return host.call("ListKeys") or True`),
  },
  ...(["Progress", "Ask", "CallTool"] as const).map((rpc): Attack => {
    const request = (id: string) =>
      `{"callId": ${id}, "text": "x", "question": "may I?", "tool": "read", "args": {"path": "notes.md"}}`;
    const fields = { Progress: ["text"], Ask: ["question"], CallTool: ["tool", "args"] }[rpc];
    const only = (id: string) =>
      `{k: v for k, v in ${request(id)}.items() if k in ["callId", ${fields.map((one) => `"${one}"`).join()}]}`;
    return {
      name: `uses the call of another plugin for ${rpc}`,
      code: asks(rpc, only(`P["victimCall"]`)),
      told: /not_found/,
      control: granted(asks(rpc, only("call.id"))),
    };
  }),
  {
    name: "uses a call of its own that is over",
    code: `return host.call("Progress", {"callId": P["oldCall"], "text": "late"}) or True`,
    told: /not_found/,
    control: granted(`host.call("Progress", {"callId": call.id, "text": "in time"}); return True`),
  },
  {
    name: "calls a tool that it was not granted",
    code: asks("CallTool", `{"callId": call.id, "tool": "shell", "args": {"command": "id"}}`),
    told: /permission_denied.*tool=shell/,
    control: granted(asks("CallTool", `{"callId": call.id, "tool": "read", "args": {"path": "notes.md"}}`)),
  },
  {
    name: "calls a tool that it was not granted by another name of it",
    code: asks("CallTool", `{"callId": call.id, "tool": "bash", "args": {"command": "id"}}`),
    told: /permission_denied/,
    control: granted(asks("CallTool", `{"callId": call.id, "tool": "read", "args": {"path": "notes.md"}}`)),
  },
  {
    name: "calls the tool of another plugin",
    code: asks("CallTool", `{"callId": call.id, "tool": "plugin_victim_act", "args": {"code": "return 1"}}`),
    told: /permission_denied/,
    control: granted(asks("CallTool", `{"callId": call.id, "tool": "read", "args": {"path": "notes.md"}}`)),
  },
  {
    name: "lets the daemon read its config for it",
    code: `
      said = host.call("CallTool", {"callId": call.id, "tool": "read", "args": {"path": P["config"]}})
      if said.get("isError"): return None
      return said["text"]`,
    control: granted(asks("CallTool", `{"callId": call.id, "tool": "read", "args": {"path": "notes.md"}}`)),
  },
  {
    name: "recalls the memory of the person without leave",
    code: asks("Recall", `{"query": "anything"}`),
    told: /permission_denied/,
    control: granted(`return host.call("ListKeys") or True`),
  },
  {
    name: "reads the artifact of another plugin",
    code: `return host.call("ReadArtifact", {"artifactId": P["victimArtifact"]}) or True`,
    told: /not_found/,
    control: granted(`
      mine = host.call("WriteArtifact", {"data": "AAAA", "mimeType": "text/plain"})["artifactId"]
      return host.call("ReadArtifact", {"artifactId": mine})["data"]`),
  },
  {
    name: "climbs out of its artifacts",
    code: `return host.call("ReadArtifact", {"artifactId": "../victim/" + P["victimArtifact"]}) or True`,
    told: /not_found/,
    control: granted(`
      mine = host.call("WriteArtifact", {"data": "AAAA", "mimeType": "text/plain"})["artifactId"]
      return host.call("ReadArtifact", {"artifactId": mine})["data"]`),
  },
  {
    name: "adds to the artifact of another plugin",
    code: `return host.call("WriteArtifact", {"artifactId": "../victim/" + P["victimArtifact"], "data": "AAAA"}) or True`,
    told: /not_found/,
    control: granted(`return host.call("WriteArtifact", {"data": "AAAA", "mimeType": "text/plain"})["artifactId"]`),
  },
  {
    name: "reads what another plugin keeps",
    code: `return host.call("GetValue", {"key": "victims-key"}).get("found")`,
    control: granted(`
      host.call("SetValue", {"key": "__proto__", "value": {"polluted": True}})
      return host.call("GetValue", {"key": "__proto__"}).get("found")`),
  },
  {
    name: "calls what its host does not serve",
    code: asks("Shutdown", "{}"),
    told: /refused/,
    control: granted(`return host.call("ListKeys") or True`),
  },
  {
    name: "sends its host a message of 5 MiB",
    code: `return host.call("Log", {"message": "x" * (5 << 20)}) or True`,
    told: /resource_exhausted|BrokenPipe|ConnectionReset/,
    control: granted(`return host.call("Log", {"message": "x" * (1 << 20)}) == {}`),
  },
  {
    name: "keeps a value of a megabyte",
    code: `return host.call("SetValue", {"key": "large", "value": "x" * (1 << 20)}) or True`,
    told: /resource_exhausted/,
    control: granted(`return host.call("SetValue", {"key": "small", "value": "x"}) == {}`),
  },
];
