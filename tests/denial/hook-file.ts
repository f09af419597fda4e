import { type HostileHook, STOPPED } from "./hostile-hooks.ts";

/** The text of a hook that does its harm at one call only, so that others can be served beside it. */
export function hookFile({ header = "", top = "", body }: HostileHook, traps: string, port: number): string {
  const text = `/** @hook at=tool.before on-error=deny ${header} */
${top}
const attack = async (event, clawd) => {
${body}
};
export default (event, clawd) => (event.value.args.path === "attacked.md" ? attack(event, clawd) : undefined);
`;
  return text.replaceAll("$WORK", traps).replaceAll("$PORT", String(port));
}

/** What its turn may come to. */
export function endsOf({ gives }: HostileHook): RegExp {
  return new RegExp(`${gives.source}|${STOPPED.source}`);
}
