/** Something that a plugin takes too much of. */
export type Exhaustion = {
  /** As the rest of "a plugin that …". */
  readonly name: string;
  readonly plugin: "glutton" | "prowler";
  readonly tool: "act" | "raw";
  readonly code: string;
  /** What the call came to. */
  readonly ends: RegExp;
  /** What it leaves in the journals, where a later test counts it. */
  readonly leaves?: "values" | "denials";
  /** The same in a measure that is granted, and what it comes to; by it one knows that too much is what fails. */
  readonly enough?: { readonly code: string; readonly ends: RegExp };
};

/** What attacks under Node use: a connection to the host with as many requests as HTTP/2 lets one begin. */
const TO_HOST = `
  const http2 = load("node:http2"), net = load("node:net");
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const dial = (options) => {
    const session = http2.connect("http://host", { createConnection: () => net.connect(boot.host).on("error", () => {}), ...options });
    return session.on("error", () => {});
  };
  const begin = (session, rpc, more = {}) => {
    const headers = { ":method": "POST", ":path": "/clawd.plugin.v1.HostService/" + rpc, "content-type": "application/json" };
    return session.request({ ...headers, authorization: "Bearer " + boot.outboundToken, ...more }).on("error", () => {});
  };
  const ask = (session, rpc, message) => begin(session, rpc).end(JSON.stringify(message));
  const textOf = (stream) => new Promise((done) => {
    let text = "";
    stream.on("data", (piece) => { text += piece; }).on("close", () => done(text));
  });
`;

const ESCAPED = /^ESCAPED/;

export const EXHAUSTIONS: readonly Exhaustion[] = [
  {
    name: "fills its memory with objects",
    plugin: "glutton",
    tool: "act",
    code: `
      held = []
      for _ in range(4096): held.append(bytearray(1 << 20))
      return "all of it"`,
    ends: /MemoryError|ended with code 137/,
    enough: { code: `return len(bytearray(64 << 20))`, ends: ESCAPED },
  },
  {
    name: "asks the kernel for memory",
    plugin: "glutton",
    tool: "act",
    code: `
      import mmap
      held = [mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) for _ in range(64)]
      return "all of it"`,
    ends: /Cannot allocate memory/,
    enough: {
      code: `
        import mmap
        return len(mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))`,
      ends: ESCAPED,
    },
  },
  ...["/tmp", "/dev/shm"].map(
    (folder): Exhaustion => ({
      name: `fills ${folder}, which is memory of the machine`,
      plugin: "glutton",
      tool: "act",
      code: `
        piece = b"x" * (16 << 20)
        try:
            for number in range(64):
                with open("${folder}/%d" % number, "wb") as file: file.write(piece)
        finally:
            for number in range(64):
                try: os.unlink("${folder}/%d" % number)
                except OSError: pass
        return "a gibibyte"`,
      // Where control groups measure memory, it is over before the folder is full.
      ends: /No space left|was killed by SIGKILL|ended with code 137/,
      enough: {
        code: `
          with open("${folder}/few", "wb") as file: file.write(b"x" * (16 << 20))
          os.unlink("${folder}/few")
          return True`,
        ends: ESCAPED,
      },
    }),
  ),
  {
    name: "starts processes without end",
    plugin: "glutton",
    tool: "act",
    code: `
      children = []
      try:
          for _ in range(2000):
              child = os.fork()
              if child == 0:
                  time.sleep(20)
                  os._exit(0)
              children.append(child)
          return len(children)
      finally:
          for child in children:
              os.kill(child, 9)
              os.waitpid(child, 0)`,
    ends: /Resource temporarily unavailable/,
    enough: {
      code: `
        child = os.fork()
        if child == 0: os._exit(7)
        return os.waitpid(child, 0)[1]`,
      ends: ESCAPED,
    },
  },
  {
    name: "starts a bomb of forks and leaves it",
    plugin: "glutton",
    tool: "act",
    code: `
      if os.fork() == 0:
          os.setsid()
          while True:
              try: os.fork()
              except OSError: time.sleep(0.01)
      time.sleep(1)
      os._exit(3)`,
    ends: /plugin "glutton" (?:ended with code 3 during|broke off) the call/,
  },
  {
    name: "starts threads without end",
    plugin: "glutton",
    tool: "act",
    code: `
      end = threading.Event()
      try:
          for _ in range(2000): threading.Thread(target=end.wait, args=(20,)).start()
          return "all"
      finally:
          end.set()`,
    ends: /start new thread|Resource temporarily/,
    enough: {
      code: `
        said = []
        thread = threading.Thread(target=lambda: said.append(1))
        thread.start()
        thread.join()
        return said`,
      ends: ESCAPED,
    },
  },
  {
    name: "opens files without end",
    plugin: "glutton",
    tool: "act",
    code: `
      held = [open("/dev/null") for _ in range(5000)]
      return len(held)`,
    ends: /Too many open files/,
    enough: { code: `return len([open("/dev/null") for _ in range(200)])`, ends: ESCAPED },
  },
  {
    name: "writes lines to its log without end",
    plugin: "glutton",
    tool: "act",
    code: `
      for number in range(20_000): print("a line of the flood, number %d" % number)
      sys.stderr.write("x" * (32 << 20) + "\\n")
      return "all of it"`,
    ends: ESCAPED,
  },
  {
    name: "puts out without end",
    plugin: "glutton",
    tool: "raw",
    code: `import base64
piece = base64.b64encode(b"x" * (1 << 20)).decode()
while True: yield {"output": {"data": piece}}`,
    ends: /put out more than 16 MiB/,
    enough: { code: `yield {"output": {"data": "aGVsbG8="}}\nyield {"result": {"text": "."}}`, ends: /hello/ },
  },
  {
    name: "tells of progress without end",
    plugin: "glutton",
    tool: "raw",
    code: `until = time.time() + 2
while time.time() < until: yield {"progress": "p" * 50_000}
yield {"result": {"text": "told"}}`,
    ends: /told/,
  },
  {
    name: "gives a result of 5 MiB",
    plugin: "glutton",
    tool: "raw",
    code: `import clawd_plugin
clawd_plugin.MESSAGE_LIMIT_BYTES = 1 << 30
yield {"result": {"text": "x" * (5 << 20)}}`,
    ends: /exchanged a message of more than 4 MiB/,
    enough: { code: `yield {"result": {"text": "x" * (1 << 20)}}`, ends: /xxx/ },
  },
  {
    name: "gives two results",
    plugin: "glutton",
    tool: "raw",
    code: `yield {"result": {"text": "the first"}}\nyield {"result": {"text": "the second"}}`,
    ends: /sent more after its result/,
    enough: { code: `yield {"result": {"text": "the first"}}`, ends: /the first/ },
  },
  {
    name: "gives no result",
    plugin: "glutton",
    tool: "raw",
    code: `yield {"progress": "soon"}`,
    ends: /ended the stream without a result/,
  },
  {
    name: "kills everything that it can see",
    plugin: "glutton",
    tool: "act",
    code: `
      try: os.kill(-1, 9)
      finally: os.kill(os.getpid(), 9)`,
    ends: /plugin "glutton" (?:.* during|broke off) the call/,
  },
  {
    name: "opens ten thousand connections to its host",
    plugin: "glutton",
    tool: "act",
    code: `
      held = []
      refused = 0
      for number in range(10_000):
          wire = socket.socket(socket.AF_UNIX)
          wire.settimeout(1)
          try:
              wire.connect(host.path)
              wire.send(b"POST /clawd.plugin.v1.HostService/Log HTTP/1.1\\r\\n")
              held.append(wire)
          except OSError: refused += 1
          if len(held) > 500: held.pop(0).close()
      return "opened"`,
    ends: ESCAPED,
  },
  {
    name: "writes into its store without end",
    plugin: "glutton",
    tool: "act",
    leaves: "values",
    code: `
      for number in range(2000): host.call("SetValue", {"key": "k%d" % (number % 10), "value": "x" * 60_000})
      return "all of it"`,
    ends: /changes its store too often/,
    enough: { code: `return host.call("GetValue", {"key": "k0"})["found"]`, ends: ESCAPED },
  },
  {
    name: "is denied without end",
    plugin: "glutton",
    tool: "act",
    leaves: "denials",
    code: `
      said = []
      def ask():
          for number in range(125):
              try: host.call("Recall", {"query": "x"})
              except RpcError as error: said.append(error)
      askers = [threading.Thread(target=ask) for number in range(8)]
      for asker in askers: asker.start()
      for asker in askers: asker.join()
      raise said[-1]`,
    ends: /permission_denied|exhausted/,
  },
  {
    name: "asks a thousand questions in one call",
    plugin: "glutton",
    tool: "act",
    code: `
      for number in range(1000): host.call("Ask", {"callId": call.id, "question": "number %d?" % number})
      return "all of them"`,
    ends: /at most 10 questions/,
  },
  {
    name: "reads nothing of what its host answers",
    plugin: "prowler",
    tool: "act",
    code: `${TO_HOST}
      const one = dial();
      const { artifactId } = JSON.parse(await textOf(ask(one, "WriteArtifact", { data: Buffer.alloc(1 << 20).toString("base64") })));
      one.destroy();
      const held = Array.from({ length: 8 }, () => dial({ settings: { initialWindowSize: 0 } }));
      for (const session of held) for (let count = 0; count < 100; count++) ask(session, "ReadArtifact", { artifactId });
      await wait(2000);
      for (const session of held) session.destroy();
      return "asked for 800 MiB";`,
    ends: ESCAPED,
  },
  {
    name: "begins requests and takes them back without end",
    plugin: "prowler",
    tool: "act",
    code: `${TO_HOST}
      let count = 0;
      for (const until = Date.now() + 2000; Date.now() < until; ) {
        const session = dial();
        for (let nth = 0; nth < 900; nth++, count++) {
          const stream = begin(session, "Log", { "x-ballast": "x".repeat(8000) });
          stream.write("{");
          stream.close(8);
        }
        await wait(10);
        session.destroy();
      }
      const last = await textOf(ask(dial(), "ListKeys", {}));
      return last === "" ? null : count;`,
    ends: ESCAPED,
  },
];
