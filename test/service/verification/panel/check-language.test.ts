import { describe, expect, it } from "vitest";
import { check, namesOf, PROSE } from "./output-samples.ts";

describe("the language that was asked for", () => {
  it.each([
    "Respond in Japanese.",
    "Write a short report in Russian.",
    "Translate the following text to Greek: The river runs.",
    "Translate from English into Korean.",
    "The output must be written entirely in Arabic.",
    "Language: Hebrew",
  ])("%s: a text in Latin letters is found", (specText) => {
    expect(check(PROSE, { specText })).toMatchObject([{ name: "wrong_language", criterion: null }]);
  });

  it("is named with its criterion", () => {
    const found = check(PROSE, { acceptanceCriteria: "1. Four cities\n2. Written in Thai" });
    expect(found).toMatchObject([{ name: "wrong_language", criterion: "c2" }]);
  });

  it("is found missing in another script than Latin as well", () => {
    const output = "Лион стоит там, где Сона впадает в Рону, а Бордо на Гаронне, недалеко от моря.";
    expect(namesOf(check(output, { specText: "Answer in English." }))).toEqual(["wrong_language"]);
    expect(check(output, { specText: "Answer in Russian." })).toEqual([]);
  });

  it("is found in a text with names and code in other letters", () => {
    const output = `以下は four cities の一覧です。それぞれの町は川のそばにあります: Lyon, Bordeaux, Nantes, Rouen. ${PROSE}`;
    expect(check(output, { specText: "Respond in Japanese." })).toEqual([]);
  });

  it.each([
    "Write a poem about manners in Japanese museums.",
    "Explain how honorifics work in Korean.",
    "Translate this Japanese text.",
    "Do not answer in Japanese.",
    "Write the title in Japanese.",
    "Respond in Japanese and English.",
    "Respond in Japanese. Then respond in Korean.",
    "Write a report on Greek islands.",
    "Translate from Japanese to English.",
    "Answer in Japanese yen.",
    "Respond in Klingon.",
  ])("%s: a text in Latin letters is no fault", (specText) => {
    expect(check(PROSE, { specText })).toEqual([]);
  });

  it("is not judged by a few letters", () => {
    expect(check("OK, 42 km.", { specText: "Respond in Japanese." })).toEqual([]);
  });

  it.each([
    "The report is in English. Translate it.",
    "The report is in English. Translate it into Russian.",
    "The output should be in English at first. Localise it for Moscow.",
    "Summarise the text.\nText: in English",
    "The article is in English. Summarise it for readers in Moscow.",
    "Improve this article. The article should be only polish",
  ])("%s: a text in Russian is no fault", (specText) => {
    const output = "Лион стоит там, где Сона впадает в Рону, а Бордо на Гаронне, недалеко от моря.";
    expect(check(output, { specText })).toEqual([]);
  });

  it.each([
    [
      "Hindi",
      "Lyon vahan hai jahan Saone nadi Rhone se milti hai. Bordeaux samudra se ek ghante door hai. Log vahan khush the.",
    ],
    [
      "Japanese",
      "Riyon wa Soonu-gawa to Roonu-gawa ga deau tokoro ni aru machi desu. Borudoo wa umi kara ichijikan desu.",
    ],
    [
      "Russian",
      "Lion stoit tam, gde Sona vpadayet v Ronu, a Bordo na Garonne, nedaleko ot morya, gde mnogo vetra.",
    ],
  ])("may be written in Latin letters: %s", (language, output) => {
    expect(check(output, { specText: `Respond in ${language}.` })).toEqual([]);
  });

  it("is missing in German where Hindi was asked for", () => {
    const output =
      "Lyon liegt dort, wo die Saône in die Rhône mündet, und Bordeaux an der Garonne, eine Stunde vom Meer.";
    expect(namesOf(check(output, { specText: "Respond in Hindi." }))).toEqual(["wrong_language"]);
  });
});
