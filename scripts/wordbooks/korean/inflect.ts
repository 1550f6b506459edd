/** The forms of a Korean verb or adjective, as far as a match from the left needs them. */

const FIRST_SYLLABLE = 0xac00;
const VOWELS = 21;
const FINALS = 28;
/** Places of letters in a Hangul syllable (Unicode 3.12): vowels, and final consonants. */
const [A, AE, YA, EO, E, YEO, O, WA, OE, U, WO, WI, EU, I] = [0, 1, 2, 4, 5, 6, 8, 9, 11, 13, 14, 16, 18, 20];
const [NONE, N, L, M, B, SS] = [0, 4, 8, 16, 17, 20];
/** ㄹ as a first letter. */
const FIRST_L = 5;

/** How a stem changes before a vowel, where it is not regular: 듣다 들어 (ㄷ), 돕다 도와 (ㅂ), 짓다 지어 (ㅅ), 모르다 몰라 (르), 그렇다 그런 (ㅎ). */
export type Irregular = 'ㄷ' | 'ㅂ' | 'ㅅ' | '르' | 'ㅎ' | '';

interface Syllable {
  readonly first: number;
  readonly vowel: number;
  readonly final: number;
}

const taken = (sign: string): Syllable => {
  const code = sign.charCodeAt(0) - FIRST_SYLLABLE;
  return { first: Math.floor(code / VOWELS / FINALS), vowel: Math.floor(code / FINALS) % VOWELS, final: code % FINALS };
};
const joined = ({ first, vowel, final }: Syllable) =>
  String.fromCharCode(FIRST_SYLLABLE + (first * VOWELS + vowel) * FINALS + final);
const withFinal = (text: string, final: number) => text.slice(0, -1) + joined({ ...taken(text.at(-1)!), final });

/** What the stem and "아/어" become together: 가 → 가, 보 → 봐, 마시 → 마셔, 쓰 → 써, 먹 → 먹어. */
function infinitive(stem: string): string {
  if (stem.endsWith('하')) return `${stem.slice(0, -1)}해`;
  const { first, vowel, final } = taken(stem.at(-1)!);
  const bright = (each: number) => each === A || each === O || each === YA;
  if (final !== NONE) return stem + (bright(vowel) ? '아' : '어');
  const as = (changed: number) => stem.slice(0, -1) + joined({ first, vowel: changed, final });
  if (vowel === O) return as(WA);
  if (vowel === U) return as(WO);
  if (vowel === I) return as(YEO);
  if (vowel === WI) return `${stem}어`;
  if (vowel === OE) return as(10); // 되 → 돼
  if (vowel === EU) return as(stem.length > 1 && bright(taken(stem.at(-2)!).vowel) ? A : EO);
  return [A, AE, EO, E, YEO].includes(vowel) ? stem : `${stem}어`;
}

/** The stem before vowels, with 으 where it needs it, and its infinitive. */
function beforeVowels(stem: string, irregular: Irregular): { open: string; infinitive: string } {
  const last = taken(stem.at(-1)!);
  const bare = withFinal(stem, NONE);
  switch (irregular) {
    case 'ㄷ':
      return { open: `${withFinal(stem, L)}으`, infinitive: infinitive(withFinal(stem, L)) };
    case 'ㅂ':
      return { open: `${bare}우`, infinitive: `${bare}${stem === '돕' || stem === '곱' ? '와' : '워'}` };
    case 'ㅅ':
      return { open: `${bare}으`, infinitive: bare + ([A, O].includes(last.vowel) ? '아' : '어') };
    case '르': {
      const before = withFinal(stem.slice(0, -1), L);
      const vowel = [A, O].includes(taken(before.at(-1)!).vowel) ? A : EO;
      return { open: stem, infinitive: before + joined({ first: FIRST_L, vowel, final: NONE }) };
    }
    case 'ㅎ':
      return { open: bare, infinitive: bare.slice(0, -1) + joined({ ...last, vowel: AE, final: NONE }) };
    default:
      if (last.final === NONE) return { open: stem, infinitive: infinitive(stem) };
      return { open: last.final === L ? bare : `${stem}으`, infinitive: infinitive(stem) };
  }
}

/** First syllables of endings after a stem of one syllable, which alone would match too much. */
const AFTER_STEM = [...'고는다지기게자던네거'];
const AFTER_VOWEL = [...'면며려러니시세셨신'];
const AFTER_INFINITIVE = [...'요서도야라보주'];
/** A stem in ㄹ keeps it before the first, and loses it before the second (살다: 살면, 사는). */
const AFTER_L = { kept: [...'고다지기게자던거면며려러'], lost: [...'는네니시세셨신'] };

/** `word` ends in 다. Longer stems as such with their contractions; a stem of one syllable with the endings. */
export function formsOf(word: string, irregular: Irregular): string[] {
  const stem = word.slice(0, -1);
  const { open, infinitive: connective } = beforeVowels(stem, irregular);
  const past = taken(connective.at(-1)!).final === NONE ? [withFinal(connective, SS)] : [];
  const polite = open.length === stem.length ? [withFinal(open, B)] : [];
  const modifiers = [N, L, M].map((final) => withFinal(open, final));
  if (stem.length > 1) return [...new Set([stem, open, connective, ...past, ...polite, ...modifiers])];
  const endsInL = taken(stem).final === L;
  const after = (start: string, endings: readonly string[]) => endings.map((ending) => start + ending);
  const short = [
    ...after(stem, endsInL ? AFTER_L.kept : AFTER_STEM),
    ...(open.length > 1 ? [open, `${stem}습`] : after(open, endsInL ? AFTER_L.lost : AFTER_VOWEL)),
    ...(connective.length > 1 ? [connective] : after(connective, AFTER_INFINITIVE)),
    ...polite.map((each) => `${each}니`),
    ...(open.length > 1 ? modifiers : [`${modifiers[0]}다`]),
  ];
  return [...new Set([...short, ...past])];
}
