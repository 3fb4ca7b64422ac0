import { authCapture } from "./auth-capture/auth-capture.ts";
import { batchSettlement } from "./batch-settlement/batch-settlement.ts";
import { exact } from "./exact.ts";
import { exactPermit2 } from "./permit2/exact-permit2.ts";
import { upto } from "./permit2/upto.ts";
import type { PaymentScheme } from "./scheme.ts";

/** Every payment scheme, in the order of `accepts`; clients take the first that they can pay. The first one is always offered. */
export const SCHEMES: readonly PaymentScheme[] = [exact, exactPermit2, upto, authCapture, batchSettlement];

/** The protocol's words for them. */
export const PROTOCOL_SCHEMES: readonly string[] = [...new Set(SCHEMES.map(({ protocol }) => protocol))];
