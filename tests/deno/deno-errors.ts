// flags:
for (const name of ["NotFound", "AlreadyExists", "NotCapable", "PermissionDenied", "IsADirectory", "NotADirectory", "BadResource", "TimedOut", "Interrupted", "InvalidData", "ConnectionRefused"] as const) {
  const error = new Deno.errors[name]("text");
  console.log(error.name, error.message, error instanceof Error, error instanceof Deno.errors[name], String(error));
}
