// A hook that masks what looks like a secret in the output of every tool, before the model reads it. Try it with:
//   claw plugin install plugins-examples/redact
import { hook, servePlugin } from "clawd/plugin";

/** Keys of well-known services, private keys, tokens in headers, and whatever stands behind the name of a secret. */
const SECRETS: readonly RegExp[] = [
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bxox[abpr]-[A-Za-z0-9-]{10,}/g,
  /\bAKIA[A-Z0-9]{16}\b/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
  /(?<=\bBearer )[A-Za-z0-9._~+/-]{12,}=*/g,
  /(?<=\b(?:api[_-]?key|secret|token|password|passwd)["']?\s*[:=]\s*["']?)[^\s"',;]{6,}/gi,
];

const MASK = "[redacted]";

const redact = hook({
  at: "tool.after",
  run: ({ value }) => {
    const output = String(value.output);
    const masked = SECRETS.reduce((text, secret) => text.replace(secret, MASK), output);
    // Nothing to say is a pass: the output goes on as it was.
    return masked === output ? undefined : { modify: { ...value, output: masked } };
  },
});

await servePlugin({ name: "redact", version: "1.0.0", hooks: [redact] });
