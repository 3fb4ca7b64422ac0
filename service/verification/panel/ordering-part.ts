/** Work on a text that was given, whose right result is mostly that text; in any place and form of the word. */
const WORK_ON_TEXT =
  /\b(?:proofread|proof-read|copy-?edit|spell-?check|verbatim|extract|transcrib|reformat|refactor|re-?order|rearrang|alphabetis|alphabetiz|de-?duplicat|dedup|lint|uncomment|docstring|annotat|typo|template|anonymi|redact|rephras|paraphras|rewrit|rewrot|translat|prettif|minif|boilerplate|word for word|as[ -]is\b|unchanged|exactly (?:this|these|as|the|what))/i;
/** The same where the word is said of an order: elsewhere it names a thing, as in “the correct order” or “a format”. */
const ORDERED_WORK =
  /(?:^|[.!?:;,\n(>]|[-*•]|\d[.)]|\b(?:and|then|to|please|must|should|shall|can|is|are|be|been|all|you))\s*(?:correct|edit|fix|format|sort|order|fill|comment|complete|copy|quote|cite|repeat|clean|filter|merge|reproduce|restore|shorten|trim|polish|improve|indent|rename|renumber|convert|group|rank|split|update|modify|patch|debug)(?:s|es|ed|ing|ted|ting|ied|d)?\s+(?:in\b|out\b|up\b|all\b|any\b|every|each|the\b|this\b|these\b|those\b|that\b|it\b|its\b|them\b|my\b|our\b|by\b|from\b|alphabetically|comments?\b)/i;
const SORTED_STATE =
  /\b(?:sorted|alphabetical|filled|corrected|formatted|fixed|commented|edited|quoted|cited)\b/i;
const COMMENTS = /\b(?:add|adds|added|adding|insert|with|has|have)\s+(?:\w+\s+){0,2}comments?\b/i;

/** Titles whose list is a part of the order. */
const ORDERS_TITLE =
  /^\W*(?:\w+ ){0,2}(?:criteria|requirements?|tasks?|goals?|scope|deliverables?|rules|conditions)\W*$/i;
const FENCE = /^\s*(?:```|~~~)/;
const LEAD = /[:：]\W{0,3}$/u;
/** Said of what stands further down. */
const POINTS_DOWN = /\b(?:below|following|as follows)\b[^.!?\n]{0,40}[.!?]?\s*$/i;
const ITEM = /^\s*(?:[-*+•]|\(?\d{1,3}[.)])\s/;
/** A passage, rather than a name. */
const LONG_QUOTE = /“[^“”]{80,}”|"[^"]{80,}"|«[^«»]{80,}»|„[^„“”]{80,}[“”]/gu;

/** Whether the order is to work on a text that is given, or to hand one on as it is: a right result then resembles what was given. */
export function ordersWorkOnText(order: string): boolean {
  return [WORK_ON_TEXT, ORDERED_WORK, SORTED_STATE, COMMENTS].some((pattern) => pattern.test(order));
}

/**
 * What a client's text orders, without what it hands over: long quotations, blocks of code, and all below a line that leads to
 * something with a colon or a word, but for lists below a title such as “Requirements:” and for the items that follow one that leads.
 */
export function orderingPart(text: string): string {
  const kept: string[] = [];
  let isFenced = false;
  let leadIndent: number | null = null;
  for (const line of text.replace(LONG_QUOTE, " ").split("\n")) {
    if (FENCE.test(line)) {
      isFenced = !isFenced;
      continue;
    }
    if (isFenced || line.trim() === "") continue;
    const isItem = ITEM.test(line);
    const indent = line.length - line.trimStart().length;
    if (leadIndent !== null && !(isItem && indent <= leadIndent)) continue;
    leadIndent = null;
    kept.push(line);
    const leads = LEAD.test(line) ? !ORDERS_TITLE.test(line) : POINTS_DOWN.test(line);
    // Only an item's own lead ends where the next item begins.
    if (leads) leadIndent = isItem ? indent : -1;
  }
  return kept.join("\n");
}
