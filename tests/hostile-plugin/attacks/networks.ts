import { type Attack, granted, OUTSIDE, PRIVILEGED } from "../attack.ts";

/** A request through the proxy that a plugin with a network has; `THERE` is the address. */
const throughProxy = (there: string) => `
  import urllib.parse
  proxy = urllib.parse.urlparse(os.environ.get("http_proxy") or os.environ["HTTP_PROXY"])
  wire = socket.create_connection((proxy.hostname, proxy.port), 5)
  wire.settimeout(5)
  there = ${there}
  wire.sendall(("CONNECT %s HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n" % (there, there)).encode())
  if b" 200" not in wire.recv(4096).split(b"\\r\\n")[0]: return None
  wire.sendall(b"GET / HTTP/1.0\\r\\nHost: x\\r\\n\\r\\n")
  return wire.recv(4096)`;

const visits = (what: string, there: string): Attack => ({
  name: `reaches ${what} through its proxy`,
  code: throughProxy(there),
  control: granted(throughProxy(`"127.0.0.1:%d" % P["grantedPort"]`)),
});

const connects = (what: string, place: string): Attack => ({
  name: `connects to ${what}`,
  code: `
    wire = socket.socket(socket.AF_UNIX)
    wire.connect(P["${place}"])
    return True`,
  control: OUTSIDE,
});

/** Networks and sockets. */
export const NETWORK_ATTACKS: readonly Attack[] = [
  {
    name: "connects to a service of this machine",
    code: `return socket.create_connection(("127.0.0.1", P["forbiddenPort"]), 3) and True`,
    control: OUTSIDE,
  },
  {
    name: "connects past its proxy to what it was granted",
    code: `return socket.create_connection(("127.0.0.1", P["grantedPort"]), 3) and True`,
    control: OUTSIDE,
  },
  {
    name: "connects to a service of this machine under Node",
    under: "node",
    code: `
      return new Promise((resolve, reject) => {
        const wire = load("node:net").connect(P.forbiddenPort, "127.0.0.1", () => resolve("connected"));
        wire.once("error", reject);
      });`,
    control: granted(`
      return new Promise((resolve, reject) => {
        const server = load("node:net").createServer().listen(0, "127.0.0.1", () => {
          const wire = load("node:net").connect(server.address().port, "127.0.0.1", () => resolve("connected"));
          wire.once("error", reject);
          wire.once("connect", () => server.close());
        });
      });`),
  },
  {
    name: "asks over UDP and waits for an answer",
    code: `
      wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
      wire.settimeout(0.5)
      wire.sendto(b"ping", ("127.0.0.1", P["datagramPort"]))
      return wire.recv(99)`,
    control: OUTSIDE,
  },
  visits("another port of this machine", `"127.0.0.1:%d" % P["forbiddenPort"]`),
  visits("this machine by a number", `"2130706433:%d" % P["forbiddenPort"]`),
  visits("this machine by its short address", `"127.1:%d" % P["forbiddenPort"]`),
  visits("this machine by its mapped address", `"[::ffff:127.0.0.1]:%d" % P["forbiddenPort"]`),
  visits("this machine by any address", `"0.0.0.0:%d" % P["forbiddenPort"]`),
  visits("this machine by name", `"localhost:%d" % P["forbiddenPort"]`),
  visits("the service that tells machines who they are", `"169.254.169.254:80"`),
  visits("a port that it hides behind another", `"127.0.0.1:%d@127.0.0.1:%d" % (P["grantedPort"], P["forbiddenPort"])`),
  visits("two hosts in one line", `"127.0.0.1:%d\\r\\nX: 127.0.0.1:%d" % (P["forbiddenPort"], P["grantedPort"])`),
  {
    name: "sees interfaces of the machine",
    code: `return [name for _, name in socket.if_nameindex() if name != "lo"]`,
    control: PRIVILEGED,
  },
  {
    name: "opens a raw socket",
    code: `return socket.socket(socket.AF_INET, socket.SOCK_RAW, 1) and True`,
    control: PRIVILEGED,
  },
  {
    name: "opens a socket for packets of its own",
    code: `return socket.socket(17, socket.SOCK_RAW) and True`,
    control: PRIVILEGED,
  },
  {
    name: "speaks to the host of a virtual machine",
    code: `return socket.socket(40, socket.SOCK_STREAM) and True`,
    control: PRIVILEGED,
  },
  {
    name: "connects to an abstract socket of the machine",
    code: `
      wire = socket.socket(socket.AF_UNIX)
      wire.connect("\\0" + P["abstractName"])
      return True`,
    control: OUTSIDE,
  },
  connects("the screen", "screenSocket"),
  connects("the gateway", "gateway"),
  connects("the socket of another plugin", "victimSocket"),
  connects("the socket on which the host serves another plugin", "victimHostSocket"),
  {
    name: "connects to the gateway under Node",
    under: "node",
    code: `
      return new Promise((resolve, reject) => {
        const wire = load("node:net").connect(P.gateway, () => resolve("connected"));
        wire.once("error", reject);
      });`,
    control: granted(`return load("node:fs").existsSync(P.prowlerFolder + "/plugin.json")`),
  },
];
