/** 02:10 UTC: after the day has turned on every chain, before the first readers of the morning. */
const DUE_AFTER_MS = (2 * 60 + 10) * 60_000;

/** The UTC day (YYYY-MM-DD) of the newest night whose scan is due. */
export function nightOf(now: Date): string {
  return new Date(now.getTime() - DUE_AFTER_MS).toISOString().slice(0, 10);
}

/** When the scan of a night (YYYY-MM-DD) becomes due: the night lasts until the next one's does. */
export function nightStart(night: string): Date {
  return new Date(Date.parse(night) + DUE_AFTER_MS);
}
