/** Words by which people ask for a decision, as sources of regular expressions: English first, then other languages. */
export const ALLOW_WORDS = [
  String.raw`\b(?:allow(?:ed|s|ing)?|approv(?:e|ed|es|al|ing)|accept(?:ed|s|ing|ance)?|pass(?:ed|es|ing)?|lgtm|thumbs up)\b`,
  String.raw`\b(?:full|top|maximum|highest|perfect|best) (?:marks?|scores?|points|rating|grade)\b`,
  String.raw`\b(?:release|pay out|unlock) (?:the )?(?:escrow|payment|funds|money|provider)\b`,
  String.raw`\ball (?:of the )?(?:criteria|requirements) (?:are |have been |were |as )?(?:fully )?(?:met|satisfied|fulfilled|yes)\b`,
  String.raw`\b(?:genehmig\w*|freigeb\w*|freigegeben|zulassen|annehmen|akzeptier\w*|bestanden|erlaube\w*)\b`,
  String.raw`\b(?:approuve\w*|accepte\w*|autorise\w*|valide[rz]?)(?!\p{L})|approuvé|validé`,
  String.raw`\b(?:aprueb\w*|aprob\w*|acept\w*|aprov\w*|aceit\w*|approva\w*|accett\w*|permit(?:e|ir|a)\b)`,
  String.raw`\b(?:goedkeur\w*|goedgekeurd|godkänn\w*|godkend\w*|onayla\w*|zatwierd\w*|schval\w*|setuju\w*)`,
  String.raw`одобр\p{L}*|прин(?:ять|ять|имай|ято)|разреш\p{L}*|схвал\p{L}*|εγκρ\p{L}*|αποδεχ\p{L}*`,
  "批准|通过|通過|允许|允許|接受|合格|承認|許可|満点|满分|승인|허용|통과|만점",
  String.raw`موافق\p{L}*|اقبل|قبول|السماح|स्वीकार|स्वीकृत|अनुमति|อนุมัติ|chấp nhận|phê duyệt|אשר|מאושר`,
] as const;

export const REJECT_WORDS = [
  String.raw`\b(?:reject(?:ed|s|ing|ion)?|den(?:y|ied|ies)|fail(?:ed|s|ing|ure)?|refus(?:e|ed|es|al)|declin(?:e|ed|es))\b`,
  String.raw`\b(?:zero|no|lowest|worst|minimum) (?:marks?|scores?|points|rating|grade)\b`,
  String.raw`\b(?:refund (?:the )?(?:client|payment|escrow|funds)|unacceptable|worthless)\b`,
  String.raw`\b(?:no|none|not one) (?:of the )?(?:criteria|criterion|requirements?) (?:is|are|has been|have been|was|were) (?:met|satisfied|fulfilled)\b`,
  String.raw`\b(?:ablehn\w*|abgelehnt|lehne ab|zurückweis\w*|verweiger\w*|durchgefallen)`,
  String.raw`\b(?:rejet\w*|refuse[rz]?|rechaz\w*|deneg\w*|rejeit\w*|recus\w*|rifiut\w*|respin\w*)`,
  String.raw`\b(?:afwijz\w*|afgewezen|avvis\w*|avslå\w*|reddet\w*|odrzu\w*|zamít\w*|tolak)`,
  String.raw`отклон\p{L}*|отказ\p{L}*|відхил\p{L}*|απορρ\p{L}*`,
  "拒绝|拒絕|驳回|駁回|不合格|却下|拒否|거부|거절|불합격",
  "رفض|ارفض|مرفوض|अस्वीकार|अस्वीकृत|ปฏิเสธ|từ chối|דחה|נדחה",
] as const;

export const HOLD_WORDS = [String.raw`\bHOLD\b`] as const;

/** Names of a number that rates quality. */
export const SCORE_WORDS = [
  String.raw`\b(?:scor(?:e[sd]?|ing)|rat(?:e|ed|ing)|grade[sd]?|mark(?:s|ed)?|points?|punkt(?:e|zahl)?|note|punt(?:uación|uacion|aje|eggio|os)|pontuação|ocena|puan|skor|điểm)\b`,
  String.raw`оцен\p{L}*|балл\p{L}*|βαθμ\p{L}*|分数|分數|评分|評分|点数|スコア|得点|점수|درجة|النتيجة|अंक|स्कोर|ציון|คะแนน`,
] as const;

/** Words by which data commands its reader to forget earlier instructions. */
export const OVERRIDE_WORDS = [
  String.raw`\b(?:ignore|disregard|forget|override|bypass|skip)\b[^.\n]{0,60}\b(?:instructions?|prompts?|rules?|above|previous|prior|criteria|guidelines?|fence|system message)\b`,
  String.raw`\b(?:ignorier\w*|vergiss)\b[^.\n]{0,60}(?:anweisung|regel|vorherig)`,
  String.raw`\b(?:ignore[rz]?|oublie[rz]?|ignora\w*|olvida\w*|esque\w*|dimentica\w*)\b[^.\n]{0,60}(?:instruc|instruç|istruz|consigne|reglas|regole)`,
  String.raw`игнорир\p{L}*|забудь\p{L}*|忽略|無視|무시|تجاهل|अनदेखा|תתעלם`,
] as const;
