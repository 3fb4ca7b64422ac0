/** Events that a subscription can ask for. */
export const ALERT_EVENTS = ["ahs.grade_changed", "ahs.sanctions_hit"] as const;

export type AlertEvent = (typeof ALERT_EVENTS)[number];

/** The first event of every subscription, and whatever its owner asks for to see that the endpoint answers. */
export const TEST_EVENT = "subscription.test";

export type WebhookType = AlertEvent | typeof TEST_EVENT;
