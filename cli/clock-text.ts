/** A point in time for eyes, in the local time zone: "2026-01-31 18:04". Empty for 0. */
export function formatTime(atMs: number): string {
  if (atMs === 0) return "";
  const at = new Date(atMs);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
