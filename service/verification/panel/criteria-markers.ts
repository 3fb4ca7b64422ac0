/** What opens an item of a list; `rest` is the line without it. */
export type Marker =
  | { readonly kind: "bullet"; readonly rest: string }
  | { readonly kind: "number"; readonly value: number; readonly rest: string }
  | {
      readonly kind: "letter";
      /** Its places in the alphabet and among Roman numerals; null where it has none. */
      readonly letter: number | null;
      readonly roman: number | null;
      readonly rest: string;
    };

const BULLET = /^(?:[-*+•‣◦▪●–—·]\s|[・✓✔✅☐☑☒➤►▶]\ufe0f?)/u;
const BOX = /^\[[ xX]?\]\s/;
const NUMBER = /^\(?(\d{1,3})(?:[.):]\s|[、．）])/;
const CIRCLED = /^([①-⑳])/;
const LETTER = /^\(?([a-zA-Z]|[ivx]{2,5}|[IVX]{2,5})[.)]\s/;
const ROMANS =
  "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx xxi xxii xxiii xxiv xxv xxvi xxvii xxviii xxix xxx".split(
    " ",
  );

/** The mark that a line without white space at its ends opens an item with; null for one that opens none. */
export function markerOf(text: string): Marker | null {
  const bullet = BULLET.exec(text)?.[0] ?? (BOX.test(text) ? "" : null);
  if (bullet !== null) return { kind: "bullet", rest: withoutBox(text.slice(bullet.length).trim()) };
  const [number, digits] = NUMBER.exec(text) ?? [];
  if (number !== undefined) {
    return { kind: "number", value: Number(digits), rest: text.slice(number.length).trim() };
  }
  const [circled] = CIRCLED.exec(text) ?? [];
  if (circled !== undefined) {
    return { kind: "number", value: circled.charCodeAt(0) - 0x245f, rest: text.slice(1).trim() };
  }
  const [mark, sign = ""] = LETTER.exec(text) ?? [];
  if (mark === undefined) return null;
  const small = sign.toLowerCase();
  return {
    kind: "letter",
    letter: small.length === 1 ? small.charCodeAt(0) - 0x60 : null,
    roman: ROMANS.indexOf(small) + 1 || null,
    rest: text.slice(mark.length).trim(),
  };
}

/**
 * Whether each of the marks of a list's items, in order, is a mark and no part of the text: bullets always, numbers where they begin
 * with one or count on, letters and Roman numerals where they count from the first one on to a second.
 */
export function marksThatCount(markers: readonly (Marker | null)[]): readonly boolean[] {
  let number: number | null = null;
  const expected: { letter: number | null; roman: number | null } = { letter: null, roman: null };
  return markers.map((marker, index) => {
    if (marker === null) return false;
    if (marker.kind === "bullet") return true;
    if (marker.kind === "number") {
      const counts = marker.value === 1 || marker.value === number;
      number = marker.value + 1;
      return counts;
    }
    const next = markers[index + 1];
    const kinds = (["letter", "roman"] as const).filter((kind) => {
      const opens = marker[kind] === 1 && next?.kind === "letter" && next[kind] === 2;
      return opens || (marker[kind] !== null && marker[kind] === expected[kind]);
    });
    for (const kind of ["letter", "roman"] as const) {
      expected[kind] = kinds.includes(kind) ? (marker[kind] ?? 0) + 1 : null;
    }
    return kinds.length > 0;
  });
}

/** A box to tick stands after a bullet or by itself. */
function withoutBox(text: string): string {
  const [box = ""] = BOX.exec(text) ?? [];
  return text.slice(box.length).trim();
}
