// A plugin that runs under Node what it is told to, and starts the programs that it was granted.
import { servePlugin, tool } from "clawd/plugin";

const REFUSALS = /^(E[A-Z]+|ERR_)/;

const act = tool<{ code: string; places: object }>({
  name: "act",
  run: async ({ code, places }) => {
    const attack = new Function("P", "load", `return (async () => {${code}\n})()`);
    try {
      const got: unknown = await attack(places, (name: string) => process.getBuiltinModule(name));
      return got ? `ESCAPED: ${String(got).slice(0, 300)}` : "refused: nothing there";
    } catch (error) {
      const { code: errno = "", message = "" } = Object(error) as { code?: string; message?: string };
      return `${REFUSALS.test(errno) ? "refused" : "broken"}: ${errno} ${message}`;
    }
  },
});

await servePlugin({ name: "prowler", version: "1.0.0", tools: [act] });
