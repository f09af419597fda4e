// flags:
const form = new FormData();
form.append("a", "1");
form.append("a", "2");
form.set("b", "3");
console.log([...form], form.get("a"), form.getAll("a"), form.has("c"));
form.delete("a");
console.log([...form.keys()]);
