/** What `claw init` writes: every setting with its default, all of them commented out. */
export const CONFIG_TEMPLATE = `# The settings of clawd. Take the "# " before a setting away to change it; claw down && claw up reads it again.

# Who answers: "PROVIDER/NAME" or "PROVIDER". Without it: anthropic when it has a key, else the offline rehearsal.
# model = "anthropic"

# [providers.anthropic]
# api_key = ""                      # or the variable ANTHROPIC_API_KEY
# base_url = ""                     # or the variable ANTHROPIC_BASE_URL
# model = ""

# What calls need before they happen: deny beats ask beats allow. A pattern is TOOL or TOOL:PATTERN.
# [policy]
# allow = []                        # e.g. ["shell:npm test"]
# ask = []
# deny = []                         # e.g. ["shell:git push*"]

# What shell commands may touch beside the workspace.
# [shell]
# network = false                   # true: every public address, through a proxy
# net = []                          # just these, e.g. ["api.example.com:443", "192.168.1.5:8080"]
# host_network = false              # true: the machine's network as it is, unfiltered
# read = []
# write = []

# [limits]
# attended_steps = 250              # model calls in one turn while somebody waits for it
# unattended_steps = 10             # and while nobody does
# approval_seconds = 300            # how long a question waits for its answer
# output_chars = 100000             # how much of a tool's output the model gets to read

# "auto" takes the strongest sandbox that the machine has; "none" turns it off.
# [sandbox]
# level = "auto"

# What runs scripts of claw run that name no runtime.
# [scripts]
# runtime = "isolate"               # or "deno": the Deno that is installed
# deno = "deno"                     # where it is: a name on PATH or an absolute path; 2.6 or newer

# A hook whose process had to be killed so often within so long is turned off.
# [hooks]
# kills_allowed = 3
# kill_window_seconds = 600
# processes = 8   # trust groups of hooks that have a process at one moment
# memory_mib = 32 # heap of one hook in one conversation
# commands_without_sandbox = false  # true: command hooks run also where the machine has no OS sandbox

# Memory. Without an embedder: openai when it has a key or an address, else gemini with a key, else the built-in one.
# [memory]
# enabled = true
# auto_reindex = true               # watch indexed folders
# conversations = true              # past conversations can be found
# embedder = "builtin"              # or "openai", "gemini", "local", "plugin:NAME/ID", "none"
# embedding_model = ""              # or the variable EMBEDDING_MODEL
# embedding_api_url = ""            # or EMBEDDING_API_URL
# embedding_api_key = ""            # or EMBEDDING_API_KEY
# rrf = "weighted"                  # "unweighted": ranks by words and by vectors count the same
# vector_weight = 1.0               # what ranks by vectors count beside 1 for words; 0.1 for the built-in embedder
# half_life_days = 0                # a hit this old counts half; 0: age does not matter
# store_limit_mib = 0               # what indexing may put on the disk; there it stops, and searching goes on. 0: what there is room for
# recall = true                     # ask memory with a person's words before the model is asked
# recall_tokens = 1000
# recall_notes = 3
# recall_documents = 3

# A small profile of you, learned of what you say; claw profile shows it.
# [profile]
# enabled = false
# cadence = 5                       # messages of yours after which there is something to learn

# Shows the model only the tools that are near to your words, for those who have many.
# [agent.tool_filter]
# enabled = false
# top_k = 6                         # the nearest; 0: all
# min_similarity = 0                # cosine from which on a tool is near; 0: any
# always_on = ["memory_search", "remember", "shell", "read", "edit"]
# min_description_words = 5         # whoever says less of itself is shown

# A plugin whose process dies so often within so long rests.
# [plugins]
# crashes_allowed = 5
# crash_window_seconds = 300

# A server of the Model Context Protocol; claw mcp add writes one into mcp.json instead. Then: claw mcp reload
# [mcp_servers.notes]
# command = "node"
# args = ["/home/me/servers/notes/index.js"]
# allow = ["read=/home/me/notes"]
# sampling_tokens = 0               # a day, of your models; 0: none
# sampling_ask = true               # a yes each time

# Settings of the plugin "weather", which its own schema judges; then: claw plugin reload weather
# [plugins.weather]
# city = "Ulm"

# Where agents of plugins on other machines dial in; nowhere unless listen is set.
# [remote]
# listen = "127.0.0.1:7443"
# address = "daemon.example.com:7443"  # what they dial, when that is another address
# certificate_days = 30

# A loopback port beside the socket, for programs that cannot use one. They must send the token.
# [gateway]
# port = 0                          # 0 takes any free port; claw status shows it
# token = ""                        # empty: made at the first start and kept in the data folder

# Record every answer of the model, to be replayed with: claw say --model tape/FILE "…"
# [record]
# tape = ""
`;
