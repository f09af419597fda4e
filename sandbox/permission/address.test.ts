import { describe, expect, test } from "vitest";
import { addressGranted } from "./address.ts";
import { normalizeHost } from "./host.ts";
import { readIp } from "./ip.ts";
import { classifyIp } from "./ip-class.ts";
import { type Permission, parsePermission } from "./permission.ts";

const CLASSES: Readonly<Record<string, string>> = {
  public: `
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 169.253.255.255
    169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.1 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
    168.63.129.15 2001:4860:4860::8888 2606:4700::1 2a00::1 ::ffff:1.1.1.1 64:ff9b::1.1.1.1 2002:101:101::1 ::1.1.1.1`,
  private: `
    10.0.0.0 10.255.255.255 100.64.0.1 100.127.255.255 172.16.0.0 172.31.255.255 192.168.0.1 192.168.255.255 198.18.0.1
    fc00::1 fd12:3456::1 fec0::1 ::ffff:10.0.0.1 ::ffff:c0a8:1 64:ff9b::10.0.0.1 2002:a00:1::1 2002:c0a8:101:5::9
    ::10.0.0.1 ::ffff:0:10.0.0.1 0xa.0.0.1 167772161`,
  special: `
    0.0.0.0 0.1.2.3 127.0.0.1 127.255.255.255 169.254.0.1 169.254.169.254 100.100.100.200 168.63.129.16 192.0.0.192
    192.0.2.1 192.88.99.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 fe80::1
    febf::1 ff00::1 ff02::fb fd00:ec2::254 2001::1 2001:db8::1 3fff::1 100::1 4000::1 ::ffff:127.0.0.1 ::ffff:7f00:1
    ::ffff:0.0.0.0 64:ff9b::127.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::1 2002:7f00:1::1 2002:a9fe:a9fe::1 ::127.0.0.1
    ::ffff:0:127.0.0.1 0177.0.0.1 2130706433 127.1`,
};

describe.each(Object.entries(CLASSES))("%s", (kind, addresses) => {
  test.each(addresses.trim().split(/\s+/))("%s", (address) => {
    const ip = readIp(normalizeHost(address) ?? "");
    expect(ip && classifyIp(ip)).toBe(kind);
  });
});

test.each(["fe80::1%eth0", "example.com", "1.2.3.4.5", ":::"])("%s is no address that is dialled", (answer) => {
  expect(addressGranted({ allow: [{ kind: "net" }], deny: [] }, "example.com", answer, 443)).toMatchObject({
    ok: false,
    message: expect.stringContaining("which is no address"),
  });
});

function parseAll(texts: string): Permission[] {
  return texts.split(/ +/).flatMap((text) => {
    if (text === "") return [];
    const parsed = parsePermission(text, "/base");
    if (!parsed.ok) throw new Error(parsed.message);
    return parsed.value;
  });
}

/** What is allowed | what is denied | the host that was asked for | the address it has | its port | whether it may be dialled. */
const TABLE = `
    net                            |                    | example.com  | 93.184.216.34    | 443 | yes
    net                            |                    | example.com  | 2606:2800:220::1 | 443 | yes
    net                            |                    | example.com  | 10.0.0.1         | 443 | no
    net                            |                    | example.com  | 127.0.0.1        | 443 | no
    net                            |                    | example.com  | 169.254.169.254  | 80  | no
    net                            |                    | example.com  | ::1              | 80  | no
    net                            |                    | example.com  | fd00::1          | 80  | no
    net                            |                    | example.com  | ::ffff:10.0.0.1  | 80  | no
    net                            |                    | example.com  | 64:ff9b::a00:1   | 80  | no
    net                            |                    | example.com  | not-an-address   | 80  | no
    net                            |                    | example.com  | 0.0.0.0          | 80  | no
    net=example.com                |                    | example.com  | 93.184.216.34    | 443 | yes
    net=example.com                |                    | EXAMPLE.com. | 93.184.216.34    | 443 | yes
    net=example.com                |                    | example.com  | 192.168.1.1      | 443 | no
    net=example.com:443            |                    | example.com  | 93.184.216.34    | 443 | yes
    net=example.com:443            |                    | example.com  | 93.184.216.34    | 80  | no
    net=example.com                |                    | example.org  | 93.184.216.34    | 80  | no
    net=*.example.com              |                    | a.example.com | 93.184.216.34   | 80  | yes
    net=*.example.com              |                    | a.example.com | 10.0.0.1        | 80  | no
    net=example.com,10.0.0.0/8     |                    | example.com  | 10.0.0.1         | 80  | yes
    net=example.com,10.0.0.0/8:443 |                    | example.com  | 10.0.0.1         | 80  | no
    net=example.com,10.0.0.0/8:443 |                    | example.com  | 10.0.0.1         | 443 | yes
    net=example.com,10.0.0.0/8     |                    | example.com  | 11.0.0.1         | 80  | yes
    net=example.com,10.0.0.0/8     |                    | example.com  | 192.168.0.1      | 80  | no
    net=example.com,10.0.0.1       |                    | example.com  | 10.0.0.1         | 80  | yes
    net=example.com,10.0.0.1       |                    | example.com  | ::ffff:a00:1     | 80  | yes
    net=example.com,10.0.0.1       |                    | example.com  | 10.0.0.2         | 80  | no
    net net=10.0.0.0/8             |                    | example.com  | 10.0.0.1         | 80  | yes
    net=10.0.0.0/8                 |                    | example.com  | 10.0.0.1         | 80  | no
    net=10.0.0.0/8                 |                    | 10.0.0.1     | 10.0.0.1         | 80  | yes
    net=10.0.0.1                   |                    | 10.0.0.1     | 10.0.0.1         | 80  | yes
    net=10.0.0.1:80                |                    | 10.0.0.1     | 10.0.0.1         | 81  | no
    net=127.0.0.1                  |                    | 127.0.0.1    | 127.0.0.1        | 80  | yes
    net=127.0.0.1                  |                    | 0x7f.1       | 127.0.0.1        | 80  | yes
    net=127.0.0.1                  |                    | localhost    | 127.0.0.1        | 80  | no
    net=[::1]                      |                    | ::1          | ::1              | 80  | yes
    net=[fc00::]/7                 |                    | fd00::1      | fd00::1          | 80  | yes
    net                            |                    | localhost    | 127.0.0.1        | 80  | no
    net=localhost                  |                    | localhost    | 127.0.0.1        | 80  | yes
    net=localhost                  |                    | localhost    | ::1              | 80  | yes
    net=localhost                  |                    | localhost    | ::ffff:127.0.0.1 | 80  | yes
    net=localhost                  |                    | localhost    | 10.0.0.1         | 80  | no
    net=localhost                  |                    | localhost    | 93.184.216.34    | 80  | no
    net=localhost,10.0.0.1         |                    | localhost    | 10.0.0.1         | 80  | no
    net=*.localhost                |                    | app.localhost | 127.0.0.1       | 80  | yes
    net=*.localhost                |                    | app.localhost | 8.8.8.8         | 80  | no
    net=localhost:8000             |                    | localhost    | 127.0.0.1        | 80  | no
    net=localhost                  | net=127.0.0.1      | localhost    | 127.0.0.1        | 80  | no
    net                            | net=93.184.0.0/16  | example.com  | 93.184.216.34    | 80  | no
    net                            | net=93.184.216.34  | example.com  | 93.184.216.34    | 80  | no
    net                            | net=93.184.216.34  | example.com  | ::ffff:93.184.216.34 | 80 | no
    net                            | net=93.184.216.34  | example.com  | 64:ff9b::5db8:d822 | 80 | no
    net                            | net=93.184.216.34:25 | example.com | 93.184.216.34   | 80  | yes
    net                            | net=93.184.216.34:80 | example.com | 93.184.216.34   | 80  | no
    net                            | net=example.com    | example.com  | 93.184.216.34    | 80  | no
    net                            | net=[2606::]/16    | example.com  | 2606:2800:220::1 | 80  | no
    net=example.com,10.0.0.0/8     | net=10.1.0.0/16    | example.com  | 10.1.0.1         | 80  | no
    net=example.com,10.0.0.0/8     | net=10.1.0.0/16    | example.com  | 10.2.0.1         | 80  | yes
    net=0.0.0.0/0                  |                    | 169.254.169.254 | 169.254.169.254 | 80 | yes
`;

test.each(
  TABLE.trim()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim())),
)(
  "allow [%s] deny [%s]: %s at %s, port %s: %s",
  (allow = "", deny = "", host = "", ip = "", port = "", verdict = "") => {
    const grant = { allow: parseAll(allow), deny: parseAll(deny) };
    expect(addressGranted(grant, host, ip, Number(port)).ok ? "yes" : "no").toBe(verdict);
  },
);

test("an address of this machine is open only to a grant of the address", () => {
  const own = (texts: string, host: string) =>
    addressGranted({ allow: parseAll(texts), deny: [] }, host, "93.184.216.34", 80, true).ok;
  expect(own("net", "example.com")).toBe(false);
  expect(own("net=example.com", "example.com")).toBe(false);
  expect(own("net", "93.184.216.34")).toBe(false);
  expect(own("net=example.com,93.184.216.34", "example.com")).toBe(true);
  expect(own("net=93.184.0.0/16", "93.184.216.34")).toBe(true);
});

test("a denial says where the name led to, and names the flag", () => {
  expect(addressGranted({ allow: parseAll("net"), deny: [] }, "intranet.example", "10.0.0.1", 443)).toEqual({
    ok: false,
    message: "net=intranet.example:443 leads to 10.0.0.1, a private address, which is not granted itself",
    hint: "grant it with --allow-net=10.0.0.1:443 as well",
  });
  const deny = parseAll("net=1.0.0.0/8");
  expect(addressGranted({ allow: parseAll("net"), deny }, "example.com", "1.2.3.4", 443)).toEqual({
    ok: false,
    message: "net=example.com:443 leads to 1.2.3.4, which is denied",
    hint: "take away --deny-net=1.0.0.0/8 to allow it",
  });
});
