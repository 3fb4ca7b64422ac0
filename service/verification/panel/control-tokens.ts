/**
 * Control tokens are the texts by which a model's server separates turns, such as `<|im_start|>`. A server that reads them within a message
 * takes what follows for a turn of its own. They are broken by their form, since every model has others: the server compares whole tokens.
 */

/** Characters that a server may drop or that show nothing; space, tab and line ends are kept, and break a token by themselves. */
const UNSEEN = "[[\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}\\p{Mn}\\p{Me}]--[\\t\\n\\r]]*";

/** Ends of ampersands that are escaped themselves. */
const AMPERSANDS = "(?:(?:amp|#0*38|#x0*26);)*";

/** `<`, `[`, `]` and `>` with the characters that normal forms of Unicode turn into them. */
const LESS = escapable([0x3c, 0xff1c, 0xfe64, 0x226e], ["lt"]);
const OPENING = escapable([0x5b, 0xff3b, 0xfe47], ["lsqb", "lbrack"]);
const CLOSING = escapable([0x5d, 0xff3d, 0xfe48], ["rsqb", "rbrack"]);
const GREATER = escapable([0x3e, 0xff1e, 0xfe65, 0x226f], ["gt"]);

/**
 * Signs after which a token can go on, each with the form of what follows. A sign before a space, a digit, a quotation mark or an operator,
 * and an index of one letter, begin no token.
 */
const FORMS = [
  // <|turn>, <turn|>, </s>, <extra_id_1>, <seed:bos>, and ◁think▷.
  `(?:${LESS}|\\u25c1)(?![ \\t\\n\\r=<>\\-]|$)`,
  // [INST], [/INST], [|endofturn|], [gMASK], [e~[.
  `${OPENING}(?![ \\t\\n\\r\\d"'\`\\(\\{\\[\\]\\},.:;=^\\\\\\-]|[A-Za-z]\\]|$)`,
  // ]<]end_of_sentence[>[, ]~b], and letters up to a second bracket.
  `${CLOSING}(?=${UNSEEN}(?:(?:${LESS}|[~\\uff5e!\\uff01])(?!=)|[\\p{L}_\\|\\uff5c\\/\\uff0f][^\\s\\[\\]]{0,63}(?:${OPENING}|${CLOSING})))`,
  // >>QUESTION<<.
  `(?<=${GREATER}${UNSEEN})${GREATER}(?=${UNSEEN}[\\p{L}_\\|\\uff5c])`,
];
const SIGNS = new RegExp(FORMS.join("|"), "giv");

/** Puts a space after every sign with which a control token of any model may begin. Broken signs stay as they are. */
export function breakControlTokens(text: string): string {
  return text.replaceAll(SIGNS, (sign) => `${sign} `);
}

/**
 * A sign as it is, and as HTML, JSON, programs and URLs write it, escaped any number of times. In HTML an entity may end without its
 * semicolon, unless a longer one begins with it.
 */
function escapable(points: readonly number[], names: readonly string[]): string {
  const hex = points.map((point) => point.toString(16));
  const literal = points.map((point) => `\\u${point.toString(16).padStart(4, "0")}`).join("");
  const [byName, byDecimal, byHex] = [names, points.map(String), hex].map((one) => one.join("|"));
  const entity = `&${AMPERSANDS}(?:(?:${byName})(?:;|(?![a-z\\d]{0,31};))|#0*(?:${byDecimal})(?:;|(?![;\\d]))|#x0*(?:${byHex})(?:;|(?![;\\da-f])))`;
  const [ascii] = hex;
  const code = `\\\\u(?:0*(?:${hex.join("|")})|\\{0*(?:${hex.join("|")})\\})|\\\\x${ascii}|%(?:25)*${ascii}`;
  return `(?:[${literal}]|${entity}|${code})`;
}
