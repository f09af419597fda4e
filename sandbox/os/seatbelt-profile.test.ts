import { describe, expect, test } from "vitest";
import { quoteForProfile, type SeatbeltPlaces, seatbeltProfile } from "./seatbelt-profile.ts";

const shown = (path: string) => ({ named: path, real: path });

const NOTHING: SeatbeltPlaces = {
  program: shown("/usr/local/bin/node"),
  read: [],
  write: [],
  hide: [],
  confinement: { network: "none", system: "libraries" },
  scratch: "/private/var/folders/x/clawd-1",
  sockets: [],
};

/** Lines of a profile about one place, in order. */
function linesAbout(profile: string, path: string): string[] {
  return profile.split("\n").filter((line) => line.includes(`"${path}"`));
}

describe("the profile of sandbox-exec", () => {
  test("denies by default, and with nothing granted opens libraries, the program and a folder of its own", () => {
    expect(seatbeltProfile(NOTHING)).toBe(`(version 1)
(deny default)
(import "system.sb")
(allow process-fork)
(allow process-exec)
(allow sysctl-read)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow file-read-metadata (literal "/"))
(allow file-read-metadata (literal "/Library"))
(allow file-read-metadata (literal "/private"))
(allow file-read-metadata (literal "/private/var"))
(allow file-read-metadata (literal "/private/var/folders"))
(allow file-read-metadata (literal "/private/var/folders/x"))
(allow file-read-metadata (literal "/usr"))
(allow file-read-metadata (literal "/usr/local"))
(allow file-read-metadata (literal "/usr/local/bin"))
(allow file-read* (subpath "/System"))
(deny file-write* (subpath "/System"))
(allow file-read* (subpath "/usr/lib"))
(deny file-write* (subpath "/usr/lib"))
(allow file-read* (subpath "/usr/share"))
(deny file-write* (subpath "/usr/share"))
(allow file-read* (subpath "/Library/Apple"))
(deny file-write* (subpath "/Library/Apple"))
(allow file-read* (subpath "/Library/Frameworks"))
(deny file-write* (subpath "/Library/Frameworks"))
(allow file-read* (subpath "/usr/local/bin/node"))
(deny file-write* (subpath "/usr/local/bin/node"))
(allow file-read* file-write* (subpath "/private/var/folders/x/clawd-1"))
`);
  });

  test("the deepest path decides, because of two lines the later one does", () => {
    const profile = seatbeltProfile({
      ...NOTHING,
      read: [shown("/w/a/b"), shown("/r")],
      write: [shown("/w"), shown("/r/out")],
      hide: ["/w/secret"],
    });
    const order = ["/w", "/r/out", "/w/secret", "/w/a/b"].map((path) => profile.indexOf(`(subpath "${path}")`));
    expect(order.every((at) => at > 0)).toBe(true);
    expect(profile.indexOf('(subpath "/w")')).toBeLessThan(
      profile.indexOf('(deny file-read* file-write* (subpath "/w/secret"))'),
    );
    expect(profile.indexOf('(subpath "/w")')).toBeLessThan(profile.indexOf('(deny file-write* (subpath "/w/a/b"))'));
    expect(profile.indexOf('(deny file-write* (subpath "/r"))')).toBeLessThan(
      profile.indexOf('(allow file-read* file-write* (subpath "/r/out"))'),
    );
  });

  test("what is protected in a writable folder can be renamed neither itself nor by what holds it", () => {
    const profile = seatbeltProfile({ ...NOTHING, write: [shown("/w")], hide: ["/w/a/secret"] });
    for (const path of ["/w", "/w/a", "/w/a/secret"]) {
      expect(linesAbout(profile, path).at(-1)).toBe(`(deny file-write-unlink (literal "${path}"))`);
    }
    expect(seatbeltProfile({ ...NOTHING, hide: ["/w/a/secret"] })).not.toContain("unlink");
  });

  test("a path cannot end the text it stands in", () => {
    const path = '/w/a") (allow default) (subpath "/\\';
    const quoted = '"/w/a\\") (allow default) (subpath \\"/\\\\"';
    expect(quoteForProfile(path)).toBe(quoted);
    const profile = seatbeltProfile({ ...NOTHING, write: [shown(path)] });
    expect(profile).toContain(`(allow file-read* file-write* (subpath ${quoted}))`);
    expect(unquoted(profile)).not.toContain("allow default");
  });

  test("a network is none, the proxy alone, or all; a socket that is shown can be connected to", () => {
    expect(seatbeltProfile(NOTHING)).not.toContain("network");
    const grant = { allow: [], deny: [] };
    const filtered = {
      ...NOTHING,
      confinement: { network: { grant, onDenied: () => {} }, system: "libraries" },
    } as const;
    expect(networkOf(seatbeltProfile(filtered))).toEqual(['(allow network-outbound (remote ip (param "PROXY")))']);
    const host = { ...NOTHING, confinement: { network: "host", system: "libraries" } } as const;
    expect(networkOf(seatbeltProfile(host))).toEqual(["(allow network*)", "(system-network)"]);
    expect(networkOf(seatbeltProfile({ ...NOTHING, read: [shown("/s/b.sock")], sockets: ["/s/b.sock"] }))).toEqual([
      '(allow network-outbound (remote unix-socket (path-literal "/s/b.sock")))',
    ]);
  });

  test("programs are seen where they may be run", () => {
    const programs = seatbeltProfile({ ...NOTHING, confinement: { network: "none", system: "programs" } });
    expect(programs).toContain('(allow file-read* (subpath "/bin"))');
    expect(seatbeltProfile(NOTHING)).not.toContain('"/bin"');
  });
});

function networkOf(profile: string): string[] {
  return profile.split("\n").filter((line) => line.includes("network"));
}

/** The profile without its texts. */
function unquoted(profile: string): string {
  return profile.replace(/"(?:\\.|[^"\\])*"/g, "");
}
