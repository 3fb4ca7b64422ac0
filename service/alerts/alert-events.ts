/** Events of a wallet, which a subscription can ask for. */
export const ALERT_EVENTS = [
  "ahs.grade_changed",
  "ahs.threshold_breached",
  "ahs.sanctions_hit",
  "ahs.confidence_changed",
] as const;

export type AlertEvent = (typeof ALERT_EVENTS)[number];

/** What a subscription with thresholds is told of. */
export const THRESHOLD_EVENT = "ahs.threshold_breached" satisfies AlertEvent;

/** The first event of every subscription, and whatever its owner asks for to see that the endpoint answers. */
export const TEST_EVENT = "subscription.test";

/** That a subscription runs out; like the test it is of the subscription, and told to all of them. */
export const EXPIRING_EVENT = "subscription.expiring";

export type WebhookType = AlertEvent | typeof TEST_EVENT | typeof EXPIRING_EVENT;
