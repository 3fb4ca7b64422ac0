/** Constants of backing and safe amounts. */

/** Days of chain time whose costs and payments count. */
export const WINDOW_DAYS = 180;

/** ρ = 3/10: the part of a payment to a vetted service that is a cost; some of such payments come back as resale or kickback. */
export const VETTED_SHARE = { numerator: 3n, denominator: 10n } as const;

/** α = 1/2: the part of a payer's cost basis that is passed on, and with 1 − α the part of a cost basis that is safe. */
export const PASSED_ON = { numerator: 1n, denominator: 2n } as const;
