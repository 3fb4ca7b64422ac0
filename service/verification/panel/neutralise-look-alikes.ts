/** Signs that a reader may take for an equals sign. */
const EQUALS = "=\\u1400\\u2261\\u2550\\u30A0\\uA4FF\\uFE66\\uFF1D\\u2E40";
const LINE_ENDS = "\\n\\r\\v\\f\\x85\\u2028\\u2029";
/** What nobody sees, or only as space, within a line. */
const UNSEEN = `[[\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}\\p{Mn}\\p{Me}\\p{Z}]--[${LINE_ENDS}]]`;

/** Whole runs of such signs: as each is taken at once, time grows with the text alone. */
const RUNS = new RegExp(`[${EQUALS}][${EQUALS}${UNSEEN}]*`, "gv");
const EACH_EQUALS = new RegExp(`[${EQUALS}]`, "gv");
const ONE_UNSEEN = new RegExp(`^${UNSEEN}$`, "v");
const LINE_END = new RegExp(`^[${LINE_ENDS}]$`, "v");
/** What marks a line as a quote, an item or a comment. */
const DECORATION = /^[->#*|"'`.:_~/]$/;
/** What goes on with a word of ours, as in "ending"; letters of other scripts begin another. */
const WORD = /^[a-z0-9_]/;

const KEYWORDS = ["begin", "end"];
const LABELS = ["specification", "criteria", "output", "evidence", "ballot", "critique", "answer"];

/**
 * Tokens with which chat templates of open models part the turns of a conversation. A server that reads them within a message would
 * take what follows for our own words; a space after their first sign makes them plain text.
 */
const CONTROL_TOKENS =
  /<(?=[|\uFF5C][^|\uFF5C<>\n]{1,64}[|\uFF5C]>|\/?s>|<\/?SYS>>|(?:start|end)_of_turn>|(?:bos|eos|pad|unk)>)|\[(?=\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])/giu;

/**
 * The text with the equals signs of whatever looks like a fence turned into hyphens, whatever marker it names, and with control
 * tokens of chat templates broken by a space. A fence begins its line, or names one of our blocks. Nothing else changes.
 */
export function neutraliseLookAlikes(text: string): string {
  const fenceless = text.replaceAll(RUNS, (run: string, at: number) =>
    looksLikeFence(text, { at, run }) ? run.replaceAll(EACH_EQUALS, "-") : run,
  );
  return fenceless.replaceAll(CONTROL_TOKENS, (sign) => `${sign} `);
}

function looksLikeFence(text: string, { at, run }: { readonly at: number; readonly run: string }): boolean {
  if ((run.match(EACH_EQUALS)?.length ?? 0) < 2) return false;
  const after = KEYWORDS.map((word) => endOf(text, at + run.length, word)).find((end) => end !== null);
  if (after === undefined || after === null) return false;
  if (LABELS.some((label) => endOf(text, after, label) !== null)) return true;
  return beginsLine(text, at) && !WORD.test(plainOf(characterAt(text, after)));
}

/** Where the text goes on after the word, in any case or width and with unseen characters between its letters; null if it is not there. */
function endOf(text: string, from: number, word: string): number | null {
  let at = from;
  for (const letter of word) {
    while (isUnseen(characterAt(text, at))) at += characterAt(text, at).length;
    const character = characterAt(text, at);
    if (plainOf(character) !== letter) return null;
    at += character.length;
  }
  return at;
}

/** Whether nothing but space and decoration stands before it on its line; in JSON a line may begin after an escaped end of line. */
function beginsLine(text: string, at: number): boolean {
  let index = at;
  while (index > 0) {
    const character = characterBefore(text, index);
    if (LINE_END.test(character)) return true;
    if (character === "n" && text.charAt(index - 2) === "\\") return true;
    if (!isUnseen(character) && !DECORATION.test(character)) return false;
    index -= character.length;
  }
  return true;
}

function characterBefore(text: string, at: number): string {
  const pair = characterAt(text, at - 2);
  return pair.length === 2 ? pair : text.charAt(at - 1);
}

/** The whole code point there; empty at the end of the text. */
function characterAt(text: string, at: number): string {
  const point = text.codePointAt(at);
  return point === undefined ? "" : String.fromCodePoint(point);
}

/** Most text is ASCII, of which all but the controls and the space is seen, and is its own plain form. */
function isVisibleAscii(character: string): boolean {
  return character > " " && character < "\x7F" && character.length === 1;
}

function isUnseen(character: string): boolean {
  return !isVisibleAscii(character) && ONE_UNSEEN.test(character);
}

function plainOf(character: string): string {
  return (isVisibleAscii(character) ? character : character.normalize("NFKC")).toLowerCase();
}
