/** The gloss of a Spanish word: as it is written, or by its basic form. */
import type { Glosses } from './match.ts';

/** `word` in lower case. */
export function spanishGloss(word: string, known: Glosses): string | undefined {
  for (const form of basicForms(word)) {
    const gloss = known.get(form);
    if (gloss !== undefined) return gloss;
  }
  return undefined;
}

const SHORTEST_STEM = 2;

/** Endings and what may stand in their place, in the order in which they are tried. */
const NOUNS: readonly (readonly [ending: string, bases: readonly string[]])[] = [
  ['ces', ['z']],
  ['es', ['', 'e', 'o']],
  ['s', ['']],
  ['as', ['o']],
  ['a', ['o']],
  ['mente', ['', 'o']],
  ['amente', ['o']],
];

/** Of the regular verbs in -ar and in -er or -ir; the pronouns that are written onto a verb are taken off before. */
const AR =
  'ó aron aba aban ábamos aste aré ará arán aremos aría arían ado ada ados adas ando a an as amos o e en emos é ase ara aran';
const ER =
  'ió ieron ía ían íamos iste eré erá erán eremos ería erían iré irá irán iría irían ido ida idos idas iendo e en es emos imos o a an í iera ieran';
const PRONOUNS = /(?<=[aei]r|ndo)(me|te|se|nos|lo|la|los|las|le|les)$/;

function* basicForms(word: string): Generator<string> {
  yield word;
  for (const [ending, bases] of NOUNS) yield* replaced(word, ending, bases);
  const verb = word.replace(PRONOUNS, '');
  if (verb !== word) yield withoutAccent(verb);
  for (const ending of AR.split(' ')) yield* replaced(verb, ending, ['ar']);
  for (const ending of ER.split(' ')) yield* replaced(verb, ending, ['er', 'ir']);
}

function* replaced(word: string, ending: string, bases: readonly string[]): Generator<string> {
  if (!word.endsWith(ending) || word.length - ending.length < SHORTEST_STEM) return;
  const stem = word.slice(0, -ending.length);
  for (const base of bases) yield stem + base;
  // "naciones" has lost the accent of "nación", and "puede", "piensa" have a diphthong that "poder", "pensar" lack
  if (/[aeiou]n$|[aeiou]s$/.test(stem)) yield stem.replace(/[aeiou](?=[ns]$)/, (vowel) => ACCENTED[vowel]!);
  for (const base of bases) {
    if (stem.includes('ue')) yield stem.replace('ue', 'o') + base;
    if (stem.includes('ie')) yield stem.replace('ie', 'e') + base;
    // "convirtió", "murió", "incluye", "buscó", "llegué"
    yield stem.replace(/i(?=[^aeiou]+$)/, 'e') + base;
    yield stem.replace(/u(?=[^aeiou]+$)/, 'o') + base;
    yield stem.replace(/uy$/, 'u') + base;
    yield stem.replace(/qu$/, 'c').replace(/gu$/, 'g').replace(/c$/, 'z') + base;
  }
}

const ACCENTED: Readonly<Record<string, string>> = { a: 'á', e: 'é', i: 'í', o: 'ó', u: 'ú' };
const withoutAccent = (text: string) =>
  text
    .normalize('NFD')
    .replace(/\u0301/g, '')
    .normalize('NFC');
