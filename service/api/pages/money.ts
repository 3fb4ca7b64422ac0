const USD = new Intl.NumberFormat("en-GB", { minimumFractionDigits: 2, maximumFractionDigits: 3 });

/** An amount in US dollars as people read it: two decimals, or three where it has them. */
export function dollars(usd: number): string {
  return `${USD.format(usd)} USD`;
}

/** A text of the interface, which tells amounts to a thousandth, with those of whole cents in two decimals. */
export function shortAmounts(text: string): string {
  return text.replace(/\b([0-9]+\.[0-9]{2})0(?= USD)/g, "$1");
}
