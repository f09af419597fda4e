import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";

/** A legacy plugin as a shell script. Every line that it hears goes to its log. */
export type LegacyScript = {
  readonly name: string;
  /** What its manifest says beside its name. */
  readonly manifest?: JsonObject;
  /**
   * What it does by method, in shell: `reply JSON` answers, `$line` is the request, `$id` its id, `field NAME` gives the
   * text of the first field of that name. What is not here is answered with an empty object.
   */
  readonly on?: Readonly<Record<string, string>>;
};

/** Writes the script as an executable and gives its path. */
export async function writeScript(dir: string, { name, manifest = {}, on = {} }: LegacyScript): Promise<string> {
  const file = join(dir, name);
  const cases = Object.entries({
    initialize: `reply '${JSON.stringify({ name, ...manifest })}'`,
    shutdown: "reply '{}'; exit 0",
    ...on,
  });
  const text = `#!/bin/sh
reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$1"; }
field() { value=\${line#*\\"$1\\":\\"}; printf %s "\${value%%\\"*}"; }
while IFS= read -r line; do
  printf 'got %s\\n' "$line" >&2
  id=\${line##*\\"id\\":}; id=\${id%\\}}
  case "$line" in
${cases.map(([method, shell]) => `  '{"jsonrpc":"2.0","method":"${method}"'*) ${shell} ;;`).join("\n")}
  *) reply '{}' ;;
  esac
done
`;
  await writeFile(file, text);
  await chmod(file, 0o755);
  return file;
}
