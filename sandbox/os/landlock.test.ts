import { expect, test } from "vitest";
import { findLandlock, readConfig, readModules } from "./landlock.ts";

test("Landlock is on where it stands in the list of modules, as a whole word", () => {
  expect(readModules("lockdown,capability,landlock,yama\n")).toBe("on");
  expect(readModules("lockdown,capability,nolandlock\n")).toBe("off");
  expect(readModules("")).toBe("off");
});

test("a kernel that was built with it, but does not start it, has it off", () => {
  expect(readConfig('CONFIG_X=y\nCONFIG_SECURITY_LANDLOCK=y\nCONFIG_LSM="landlock,yama"\n')).toBe("on");
  expect(readConfig('CONFIG_SECURITY_LANDLOCK=y\nCONFIG_LSM="yama"\n')).toBe("off");
  expect(readConfig('# CONFIG_SECURITY_LANDLOCK is not set\nCONFIG_LSM="landlock"\n')).toBe("off");
});

test("the kernel of this machine is asked without an error", async () => {
  expect(["on", "off", "unknown"]).toContain(await findLandlock());
});
