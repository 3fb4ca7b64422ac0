const USD = new Intl.NumberFormat("en-GB", { minimumFractionDigits: 2, maximumFractionDigits: 3 });

/** An amount in US dollars as people read it: two decimals, or three where it has them. */
export function dollars(usd: number): string {
  return `${USD.format(usd)} USD`;
}
