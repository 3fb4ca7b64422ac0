const VALID_DAYS = 90;
const DAY_MS = 86_400_000;

/** /.well-known/security.txt (RFC 9116): whom to tell of a weakness; without a contact of its own, the reference page. */
export function securityText(origin: string, contact: string | null, now: Date): string {
  const expires = new Date(now.getTime() + VALID_DAYS * DAY_MS);
  return [
    `Contact: ${contact ?? `${origin}/docs`}`,
    `Expires: ${expires.toISOString()}`,
    "Preferred-Languages: en",
    `Canonical: ${origin}/.well-known/security.txt`,
    "",
  ].join("\n");
}
