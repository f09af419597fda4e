import { AUDIT } from "./cases/audit.ts";
import { BRIDGE } from "./cases/bridge.ts";
import { COMMANDS } from "./cases/commands.ts";
import { CPU } from "./cases/cpu.ts";
import { FILES } from "./cases/files.ts";
import { FLOODS } from "./cases/floods.ts";
import { HANDLES } from "./cases/handles.ts";
import { HOST } from "./cases/host.ts";
import { LEAKS } from "./cases/leaks.ts";
import { MEMORY } from "./cases/memory.ts";
import { MODULES } from "./cases/modules.ts";
import { NETWORK } from "./cases/network.ts";
import { PERMISSIONS } from "./cases/permissions.ts";
import { PROMPTS } from "./cases/prompts.ts";
import { REALM } from "./cases/realm.ts";
import { SURFACE } from "./cases/surface.ts";
import { TENANCY } from "./cases/tenancy.ts";
import { WEB } from "./cases/web.ts";
import type { Area, EscapeCase } from "./escape-case.ts";

/** All that is tried, by what it aims at. */
export const CASES: Readonly<Record<Area, readonly EscapeCase[]>> = {
  realm: REALM,
  leaks: LEAKS,
  bridge: BRIDGE,
  handles: HANDLES,
  modules: MODULES,
  surface: SURFACE,
  web: WEB,
  floods: FLOODS,
  tenancy: TENANCY,
  cpu: CPU,
  memory: MEMORY,
  permissions: PERMISSIONS,
  files: FILES,
  network: NETWORK,
  commands: COMMANDS,
  prompts: PROMPTS,
  audit: AUDIT,
  host: HOST,
};
