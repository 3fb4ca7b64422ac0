import { isInvisibleAt } from "./invisible.ts";
import { createQuoteSearch, quoteOf } from "./quotes.ts";
import type { OutputCheck, PanelCase } from "./types.ts";

/** Longest output that is read line by line. A longer one of such lines is padded. */
const LONGEST = 2_000;
/** Longest line that only introduces another text. */
const LONGEST_LEAD = 200;

/** Marks of sentences, lists, rules and table frames. Brackets and braces are left out: an empty list is an answer. */
const MARKS = /[\s.,:;!?…·•*#_\-\u2010-\u2015~=|/\\>'"“”‘’`、。，：；！？]/u;
/** Words of an order whose answer may be such marks. */
const ASKS_FOR_MARKS =
  /\b(?:punctuation|characters?|symbols?|signs?|marks?|operators?|regex(?:es)?|regular expressions?|emoticons?|emojis?|smileys?|ascii|morse|braille|patterns?|separators?|delimiters?|glyphs?|dividers?|borders?|art|grids?|boards?|mazes?|maps?|draw\w*|diagrams?|pictures?)\b/i;
/** Words of an order whose answer may be headings or labels. */
const ASKS_FOR_LINES =
  /\b(?:outlines?|headings?|headlines?|headers?|titles?|subtitles?|table of contents|toc|agendas?|skeletons?|templates?|(?:a|the|this) (?:\w+ )?form|questionnaires?|labels?|section names|hashtags?|channels?)\b/i;
/** Words of an order whose answer may be a greeting, a promise or any other short phrase. */
const ASKS_FOR_PHRASES =
  /\b(?:translat\w*|locali[sz]\w*|paraphras\w*|rephras\w*|rewrit\w*|proofread\w*|correct\w*|e-?mails?|messages?|letters?|repl(?:y|ies)|greetings?|dialog(?:ue)?s?|chats?|prompts?|templates?|poems?|haikus?|lyrics?|stor(?:y|ies)|jokes?|quotes?|quotations?|slogans?|captions?|subtitles?|transcri\w*|placeholders?|synonyms?|classif\w*|categor\w*|(?:a|one|single|this|the|which|what|following) (?:\w+ )?(?:word|sentence|phrase|line|title|name|label|term))\b/i;

const HEADING = /^#{1,6}\s+\S/;
/** Signs that form a line without saying anything. */
const DECORATION = /^[\s>#*_`~|=+•\-\u2013\u2014]+|[\s*_`~|=#]+$/gu;

/** Words before an introduction. */
const GREETING =
  /^(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|alright|great|yes|hello|hi(?: there)?|thanks?(?: you)?)\b[\s,!.:…–—-]*/i;
const AGREEMENT = /^(?:sure(?: thing)?|certainly|of course|absolutely|alright|got it|no problem)[\s,!.:…]*$/i;
const FILLERS: readonly RegExp[] = [
  /^(?:thought process|thinking|thoughts|reasoning|solution|(?:final )?answer|response|result|output|explanation|conclusion|deliverable|解|解答|答案|回答|respuesta|solución|réponse|lösung|antwort|ответ|решение)[\s.:：…]*$/iu,
  /^(?:here(?:['’]s| is| are)|below (?:is|are|you)|the following (?:is|are)|as requested)\b[^.!?…]{0,160}(?:…|\.\.\.)$/i,
  /^(?:here(?:['’]s| is| are)|below (?:is|are)) (?:the|your|my|an?)\b[^.!?…]{0,120}\b(?:you (?:asked|requested|ordered|wanted|needed)|as (?:requested|ordered|specified|promised)|requested|ordered)\b[^.!?…]{0,60}[.!]*$/i,
  /^here (?:you go|it is|they are)[.!:…]*$/i,
  /^(?:please )?(?:find|see)\b[^.!?…]{0,100}\b(?:attached|enclosed|below)\b[^.!?…]{0,60}[.!]*$/i,
  /^(?:let me|let['’]s|let us|i(?:['’]ll| will)|i(?:['’]m| am) (?:going|happy|glad) to|i(?:['’]d| would) be (?:happy|glad) to|we(?:['’]ll| will))\s+(?:now |first )?(?:think|solve|start|begin|work|break|go|walk|analy[sz]e|look|help|provide|write|prepare|answer|examine|consider|create|draft|produce|deliver|complete|address|tackle)\b[^.!?…]{0,120}\b(?:steps?|this|that|it|you|your|problem|task|request|question|solution|specification|criteria|requirements)\b[^.!?…]{0,60}[.!…]*$/i,
  /^(?:please )?let me know\b[^.!?…]{0,120}[.!…]*$/i,
  /^(?:i )?hope this\b[^.!?…]{0,120}[.!…]*$/i,
  /^feel free to\b[^.!?…]{0,120}[.!…]*$/i,
  /^(?:todo|tbd|tba|coming soon|work in progress|placeholder|to be (?:done|written|added|completed|delivered))[.:!…]*$/i,
  /^[[<{(][^\]>})\n]{0,80}\b(?:insert|placeholder|todo|tbd|goes here|text here|answer here)\b[^\]>})\n]{0,80}[\]>})]$/i,
];

/**
 * Finds an output that introduces something and then ends: marks alone, headings and labels alone, “Sure, here is …”, “Thought process:”.
 * Null for every other output, and where the order may ask for just that.
 */
export function checkContent({
  outputText,
  specText,
  acceptanceCriteria,
  domain,
}: Pick<PanelCase, "outputText" | "specText" | "acceptanceCriteria" | "domain">): OutputCheck | null {
  const order = `${specText}\n${acceptanceCriteria ?? ""}`;
  const kind = emptyKind(outputText, { order, isCode: domain === "code" });
  if (kind === null || isQuotedIn(order, outputText)) return null;
  return {
    name: "no_content",
    finding: `The output has no content: it is ${kind} alone, “${quoteOf(outputText, 160)}”.`,
    criterion: null,
  };
}

function emptyKind(outputText: string, { order, isCode }: { order: string; isCode: boolean }): string | null {
  if (isMarksAlone(outputText)) return ASKS_FOR_MARKS.test(order) ? null : "punctuation";
  const text = outputText.trim();
  if (text.length > LONGEST) return null;
  const lines = text.split("\n").map((line) => line.trim());
  // In source code a heading is a comment, and a label is syntax.
  const areLinesEmpty = !isCode && !ASKS_FOR_LINES.test(order);
  const arePhrasesEmpty = !ASKS_FOR_PHRASES.test(order);
  let kind = "headings or labels";
  for (const line of lines) {
    const plain = line.replace(DECORATION, "");
    if (isMarksAlone(plain)) continue;
    if (areLinesEmpty && (HEADING.test(line) || isLead(plain))) continue;
    if (!(arePhrasesEmpty && sentencesOf(plain).every(isFiller))) return null;
    kind = "an introduction or a placeholder";
  }
  return kind;
}

function isMarksAlone(text: string): boolean {
  let index = 0;
  for (const character of text) {
    if (!MARKS.test(character) && !isInvisibleAt(text, index)) return false;
    index += character.length;
  }
  return true;
}

/** A line that announces the next one, in any language. */
function isLead(plain: string): boolean {
  return plain.length <= LONGEST_LEAD && /[\p{L}\p{M})]\s?[:：]$/u.test(plain);
}

function sentencesOf(plain: string): readonly string[] {
  return plain.split(/(?<=[.!?…。！？])\s+/u);
}

function isFiller(sentence: string): boolean {
  if (AGREEMENT.test(sentence)) return true;
  const rest = sentence.replace(GREETING, "");
  // A greeting alone may be the answer.
  if (rest === "") return false;
  return FILLERS.some((filler) => filler.test(rest));
}

/** True if the order names the output in these words: marks in quotation marks, words anywhere. */
function isQuotedIn(order: string, outputText: string): boolean {
  const text = outputText.trim();
  if (text.length > LONGEST_LEAD) return false;
  const isNamed = [`"${text}"`, `'${text}'`, `“${text}”`, `‘${text}’`, `\`${text}\``].some((quoted) =>
    order.includes(quoted),
  );
  return isNamed || (!isMarksAlone(text) && createQuoteSearch([order], 2)(text));
}
