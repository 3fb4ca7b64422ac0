/** How a played job may end. */
export const OUTCOMES = ["allow", "hold", "reject"] as const;

export type Outcome = (typeof OUTCOMES)[number];

/** Text of the client's order. */
export const SPEC_TEXT = "Write a short travel note on Lyon for visitors who come for one day.";

/** One item a line: each is judged on its own. */
export const ACCEPTANCE_CRITERIA = [
  "1. Names both rivers of Lyon, the Saône and the Rhône.",
  "2. Recommends the museum of miniature and cinema.",
  "3. Explains how to arrive by train from Paris.",
  "4. Suggests a local dish for dinner, such as quenelles.",
].join("\n");

/** Outputs that meet all of it, half of it, and none. */
export const OUTPUTS: Readonly<Record<Outcome, string>> = {
  allow:
    "Lyon lies between two rivers, the Saône and the Rhône, and both can be walked along in a morning. " +
    "Recommended for the afternoon: the museum of miniature and cinema in the old town. " +
    "To arrive by train from Paris takes two hours, as any visitor is glad to have explained. " +
    "For dinner a local dish is suggested: quenelles, with a glass of Beaujolais.",
  hold:
    "Lyon lies between two rivers, the Saône and the Rhône, and both can be walked along in a morning. " +
    "Recommended for the afternoon: the museum of miniature and cinema in the old town.",
  reject:
    "Bananas ripen after the harvest. Keep them apart from apples, and put them in a fridge once they are yellow.",
};
