import type { EscapeCase } from "../escape-case.ts";

const DENIED = /^NotCapable: Requires net access/;
const secret = (host: string) => `fetch("http://${host}:{{SECRET_PORT}}/").then((response) => response.text())`;

export const NETWORK: readonly EscapeCase[] = [
  {
    name: "fetches from this machine without a grant",
    tries: [secret("127.0.0.1"), secret("localhost"), secret("[::1]")],
    sees: DENIED,
  },
  {
    name: "fetches from this machine with a grant for the whole network",
    grant: "net",
    tries: [
      "127.0.0.1",
      "127.1",
      "127.0.0.2",
      "2130706433",
      "0x7f000001",
      "0x7f.1",
      "0177.0.0.1",
      "0",
      "0.0.0.0",
      "[::1]",
      "[::]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[64:ff9b::127.0.0.1]",
      "[2002:7f00:1::]",
      "[::127.0.0.1]",
      "１２７.０.０.１",
      "127.0.0.1.",
    ].map(secret),
    sees: DENIED,
  },
  {
    name: "fetches by names that lead to this machine",
    grant: "net",
    tries: [
      "loop.example.com",
      "mapped.example.com",
      "translated.example.com",
      "tunnelled.example.com",
      "many.example.com",
      "LOOP.example.com.",
      "metadata.example.com",
    ].map(secret),
    sees: DENIED,
  },
  {
    name: "fetches by a granted name that leads to this machine",
    grant: "net=*.example.com",
    tries: ["loop.example.com", "many.example.com", "words.example.com"].map(secret),
    sees: /NotCapable|TypeError/,
  },
  {
    name: "fetches from where clouds keep their keys",
    grant: "net",
    tries: [
      "http://169.254.169.254/latest/meta-data/",
      "http://2852039166/",
      "http://[fd00:ec2::254]/",
      "http://100.100.100.200/",
      "http://168.63.129.16/",
      "http://192.0.0.192/",
    ].map((url) => `fetch("${url}")`),
    sees: DENIED,
  },
  {
    name: "fetches from the networks around this machine",
    grant: "net",
    tries: [
      "10.0.0.1",
      "172.16.0.1",
      "192.168.0.1",
      "100.64.0.1",
      "[fc00::1]",
      "[fe80::1]",
      "224.0.0.1",
      "255.255.255.255",
    ].map((host) => `fetch("http://${host}/")`),
    sees: DENIED,
  },
  {
    name: "is sent on to this machine by a server that it may ask",
    grant: "net=localhost:{{PORT}}",
    reaches: ["server"],
    tries: [
      `fetch("http://localhost:{{PORT}}/?to=" + encodeURIComponent("http://127.0.0.1:{{SECRET_PORT}}/")).then((response) => response.text())`,
      `fetch("http://localhost:{{PORT}}/?to=" + encodeURIComponent("http://localhost:{{SECRET_PORT}}/")).then((response) => response.text())`,
      `fetch("http://localhost:{{PORT}}/?to=" + encodeURIComponent("//loop.example.com:{{SECRET_PORT}}/")).then((response) => response.text())`,
    ],
    sees: DENIED,
    also: ({ hits }) => hits.find((hit) => hit.startsWith("secret server")),
  },
  {
    name: "is sent on to what is no web page",
    grant: "net=localhost:{{PORT}}",
    reaches: ["server"],
    tries: [
      "file://{{SECRET}}",
      "data:text/plain,x",
      "ftp://127.0.0.1/",
      "http://user:word@localhost:{{PORT}}/",
      "javascript:1",
      "unix:/tmp/x",
    ].map(
      (url) =>
        `fetch("http://localhost:{{PORT}}/?to=" + encodeURIComponent("${url}")).then((response) => response.text())`,
    ),
    sees: /TypeError/,
  },
  {
    name: "is sent round in a circle",
    grant: "net=localhost:{{PORT}}",
    reaches: ["server"],
    tries: [
      `(() => { let url = "http://localhost:{{PORT}}/"; for (let at = 0; at < 7; at++) url = "http://localhost:{{PORT}}/?to=" + encodeURIComponent(url); return fetch(url) })()`,
    ],
    sees: /redirects/,
  },
  {
    name: "fetches from schemes that are not the web's",
    grant: "net read={{HERE}}",
    tries: [
      "file://{{SECRET}}",
      "file:///etc/passwd",
      "blob:x",
      "ftp://127.0.0.1/",
      "unix:///run/x.sock",
      "http+unix://%2Frun%2Fx/",
      "about:blank",
      "ws://127.0.0.1:{{SECRET_PORT}}/",
    ].map((url) => `fetch("${url}")`),
    sees: /TypeError/,
  },
  {
    name: "hides a host in the parts of a URL",
    grant: "net=localhost:{{PORT}}",
    tries: [
      `fetch("http://localhost:{{PORT}}@127.0.0.1:{{SECRET_PORT}}/")`,
      `fetch("http://127.0.0.1:{{SECRET_PORT}}\\\\@localhost:{{PORT}}/")`,
      `fetch("http://127.0.0.1:{{SECRET_PORT}}#@localhost:{{PORT}}/")`,
      `fetch("http://127.0.0.1:{{SECRET_PORT}}?@localhost:{{PORT}}/")`,
      `fetch("http://localhost\\u3002example.com:{{PORT}}/")`,
      `fetch("http://localhost%00.example.com:{{PORT}}/")`,
      `fetch("http://local\\thost\\n:{{SECRET_PORT}}/")`,
      `fetch({ toString: () => "http://127.0.0.1:{{SECRET_PORT}}/", url: "http://localhost:{{PORT}}/" })`,
    ],
    sees: /NotCapable|TypeError/,
  },
  {
    name: "goes to another port than the granted one",
    grant: "net=localhost:{{PORT}}",
    tries: [
      secret("localhost"),
      `fetch("http://localhost/")`,
      `fetch("https://localhost/")`,
      `fetch("http://localhost:0{{SECRET_PORT}}/")`,
    ],
    sees: DENIED,
  },
  {
    name: "speaks to services that are not the web's",
    grant: "net=127.0.0.1 net=localhost",
    tries: [22, 25, 110, 143, 6667, 6000, 0, 65536, 2049].map((port) => `fetch("http://127.0.0.1:${port}/")`),
    sees: /TypeError/,
  },
  {
    name: "smuggles a second request in headers, method and path",
    grant: "net=localhost:{{PORT}}",
    reaches: ["server"],
    body: `const texts = [];
      for (const headers of [{ "x": "a\\r\\nhost: evil" }, { "a\\r\\nb": "c" }, { "x\\0": "y" }, { "x y": "z" }]) texts.push(await tell(() => fetch("http://localhost:{{PORT}}/headers", { headers })));
      for (const method of ["GET /x HTTP/1.1\\r\\nhost: evil\\r\\n\\r\\nGET", "CONNECT", "TRACE", "G E T"]) texts.push(await tell(() => fetch("http://localhost:{{PORT}}/headers", { method })));
      texts.push(await tell(() => fetch("http://localhost:{{PORT}}/a b\\r\\nhost: evil").then((response) => response.text())));
      return { answer: texts.map((text) => text.slice(0, 9)) };`,
    sees: /"result":\["TypeError[^"]*","TypeError[^"]*","TypeError[^"]*","TypeError[^"]*","TypeError[^"]*","TypeError[^"]*","TypeError[^"]*","TypeError[^"]*",/,
    also: ({ hits }) => hits.find((hit) => !hit.startsWith("GET /a%20b")),
  },
  {
    name: "sets the headers that belong to the connection",
    grant: "net=localhost:{{PORT}}",
    reaches: ["server"],
    body: `const names = ["Host", "Connection", "Transfer-Encoding", "Content-Length", "Upgrade", "Expect", "TE", "Trailer", "Proxy-Authorization", "Keep-Alive"];
      const response = await fetch("http://localhost:{{PORT}}/headers", { headers: Object.fromEntries(names.map((name) => [name, "evil"])) });
      return { answer: (await response.text()).includes("evil") };`,
    sees: /"result":false/,
  },
  {
    name: "goes where a denied network is",
    grant: "net=127.0.0.1 net=localhost net=*.example.com",
    deny: "net=127.0.0.0/8",
    tries: [secret("127.0.0.1"), secret("localhost"), secret("loop.example.com"), secret("[::ffff:127.0.0.1]")],
    sees: DENIED,
  },
  {
    name: "is granted a name that is almost another",
    grant: "net=ocalhost net=localhost.example.com net=*.localhost",
    deny: "net=localhost net=sub.localhost",
    tries: [secret("localhost"), secret("sub.localhost"), secret("xlocalhost")],
    sees: /NotCapable|TypeError/,
  },
  {
    name: "asks more at once than it may, and gives all of it up",
    grant: "net=localhost:{{PORT}}",
    reaches: ["server"],
    body: `const stop = new AbortController(); const all = Array.from({ length: 50 }, () => fetch("http://localhost:{{PORT}}/", { signal: stop.signal }).then(() => 1, () => 0)); stop.abort(); return { answer: (await Promise.all(all)).length };`,
    sees: /50/,
  },
];
