# A whole plugin in Python, with the standard library only. plugin.json beside it says what the tool is for; try it with:
#   claw plugin install plugins-examples/python-stdlib
import re

from clawd_plugin import Plugin

plugin = Plugin("python-stdlib", "1.0.0")


@plugin.tool
def word_count(args, call):
    """Counts words, telling each hundred of them as it goes, and stops when nobody waits any more."""
    counts = {}
    for number, word in enumerate(re.findall(r"\w+", args["text"].lower()), 1):
        counts[word] = counts.get(word, 0) + 1
        if number % 100 == 0:
            call.progress(f"{number} words")
            call.sleep(args.get("pauseMs", 0) / 1000)
    call.host.log(f"counted {sum(counts.values())} words")
    for word in sorted(counts, key=lambda one: (-counts[one], one)):
        yield f"{counts[word]} {word}\n"


@plugin.hook
def hide_mail(event, call):
    """At tool.after: no address leaves this machine."""
    output = re.sub(r"[\w.+-]+@[\w-]+(\.[\w-]+)+", "[address]", event["value"]["output"])
    if output != event["value"]["output"]:
        return {"modify": {**event["value"], "output": output}}


plugin.serve()
