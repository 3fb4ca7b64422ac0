/** Characters that show nothing: joiners, marks of direction, soft hyphens, variation selectors, fillers. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Letters of other scripts that look like these, position by position. */
const LOOKALIKES = "аАеЕоОрРсСхХуУіІјЈѕЅԁӏвВнНкКмМтТαΑεΕοΟρΡιΙκΚνΝτΤυΥχΧβΒηΗμΜ";
const LATIN = "aAeEoOpPcCxXyYiIjJsSdlbBhHkKmMtTaAeEoOpPiIkKvNtTuYxXbBnHuM";

const LEET: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "l",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
};

/** Shorter runs of letters and digits are words, not encodings. */
const LEAST_ENCODED = 8;
/** An encoding in an encoding in an encoding is the last that is looked into. */
const DEPTH = 3;
const PRINTABLE_SHARE = 0.9;

/** The text as it looks and everything that its encodings hold: what a model that reads through disguises would read. */
export function unmaskText(text: string): readonly string[] {
  const readings = new Set<string>();
  collect(text, DEPTH, readings);
  return [...readings];
}

function collect(text: string, depth: number, readings: Set<string>): void {
  const plain = plainText(text);
  if (plain === "" || readings.has(plain)) return;
  readings.add(plain);
  for (const reading of [...turned(plain), text.replace(/[*_~`|]/g, "")]) readings.add(reading);
  if (depth === 0) return;
  for (const reading of decodings(plain)) collect(reading, depth - 1, readings);
}

/** Compatibility forms, tag characters and look-alikes as plain letters, without what shows nothing. */
function plainText(text: string): string {
  // The second half of a tag's surrogate pair counts as ASCII does.
  const tagsRead = text.replace(/[\u{e0020}-\u{e007e}]/gu, (tag) =>
    String.fromCharCode(tag.charCodeAt(1) - 0xdc00),
  );
  const visible = tagsRead.replace(INVISIBLE, "").normalize("NFKC");
  return visible.replace(/[\u0370-\u03ff\u0400-\u052f]+/g, (letters, at: number) => {
    // A word that is all of another script is a word of another language.
    const isMixed = /[a-z]/i.test(`${visible[at - 1] ?? ""}${visible[at + letters.length] ?? ""}`);
    return isMixed || isDisguise(letters) ? letters.replace(/./gu, asLatin) : letters;
  });
}

/** Whether every letter of a word has a Latin twin and they spell in capitals, as disguised commands do. */
function isDisguise(letters: string): boolean {
  return letters === letters.toUpperCase() && [...letters].every((letter) => LOOKALIKES.includes(letter));
}

function asLatin(letter: string): string {
  const at = LOOKALIKES.indexOf(letter);
  return at < 0 ? letter : LATIN.charAt(at);
}

/** The whole text in writings that change each letter, or the order of letters. */
function turned(plain: string): string[] {
  return [
    shifted(plain),
    [...plain].reverse().join(""),
    plain.replace(/[013457@$]/g, (sign) => LEET[sign] ?? sign),
    // Letters set apart from each other.
    plain.replace(/\b(\p{L})[\s._*-](?=\p{L}\b)/gu, "$1"),
  ];
}

/** Contents of the encoded parts of a text. */
function decodings(plain: string): string[] {
  return [
    ...runs(plain, /[A-Za-z0-9+/_-]{8,}={0,2}/g).map((run) => decoded(run, "base64")),
    ...runs(plain, /(?:(?:0x|\\x)?[0-9a-f]{2}[\s:,]{0,2}){6,}/gi).map((run) =>
      decoded(run.replace(/0x|\\x|[^0-9a-f]/gi, ""), "hex"),
    ),
    ...runs(plain, /(?:[01]{8}\s?){4,}/g).map(fromBinary),
    fromEscapes(plain),
  ].filter((reading) => reading !== "" && reading !== plain);
}

function runs(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([run]) => run).filter((run) => run.length >= LEAST_ENCODED);
}

/** Empty where the bytes are no text. */
function decoded(run: string, encoding: "base64" | "hex"): string {
  return readable(Buffer.from(run, encoding).toString("utf8"));
}

function fromBinary(run: string): string {
  const bytes = run.match(/[01]{8}/g) ?? [];
  return readable(Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2))).toString("utf8"));
}

function readable(text: string): string {
  const printable = text.match(/[\p{L}\p{N}\p{P}\p{Zs}\p{Sm}\p{Sc}\n]/gu)?.length;
  return printable !== undefined && printable >= text.length * PRINTABLE_SHARE ? text : "";
}

/** Escapes of JavaScript, of URLs and of HTML. */
function fromEscapes(text: string): string {
  return text
    .replace(/\\u\{?([0-9a-f]{4,6})\}?/gi, (_, digits: string) => characterOf(Number.parseInt(digits, 16)))
    .replace(/\\x([0-9a-f]{2})|%([0-9a-f]{2})/gi, (_, one?: string, other?: string) =>
      characterOf(Number.parseInt(one ?? other ?? "", 16)),
    )
    .replace(/&#x([0-9a-f]{1,6});/gi, (_, digits: string) => characterOf(Number.parseInt(digits, 16)))
    .replace(/&#(\d{1,7});/g, (_, digits: string) => characterOf(Number(digits)));
}

function characterOf(codePoint: number): string {
  return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : "";
}

/** ROT13. */
function shifted(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= "Z" ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
}
