const HOUR_MS = 3_600_000;
/** An answer is kept for 24 hours; a form this much younger is never charged a second time. */
const VALID_MS = 23 * HOUR_MS;
const FORM = /^page-([0-9]{1,15})-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The Idempotency-Key of one form that sells something, with the moment at which it was offered. */
export function newOffer(now: Date, uuid: string): string {
  return `page-${now.getTime()}-${uuid}`;
}

/** Whether a form's key is one of ours and young enough that its repeat is known for one. */
export function isOpenOffer(offer: string, now: Date): boolean {
  const offered = FORM.exec(offer)?.[1];
  if (offered === undefined) return false;
  const age = now.getTime() - Number(offered);
  return age >= 0 && age < VALID_MS;
}
