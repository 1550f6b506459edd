/** The gloss of a German word: as it is written, by its basic form, or by the parts of a compound. */
import type { Glosses } from './match.ts';

/** `word` in lower case. */
export function germanGloss(word: string, known: Glosses): string | undefined {
  return simpleGloss(word, known) ?? compoundGloss(word, known);
}

function simpleGloss(word: string, known: Glosses): string | undefined {
  for (const form of basicForms(word)) {
    const gloss = known.get(form);
    if (gloss !== undefined) return gloss;
  }
  return undefined;
}

/** Of nouns and adjectives, and what may stand in place of each. */
const NOUN_ENDINGS = ' en em er ien es e n s nen'.split(' ');
const NOUN_BASES = ['', 'en', 'n', 'e', 'a', 'um'];
/** Of verbs: "entscheidet" is of "entscheiden" and not of "Entscheid". */
const VERB_ENDINGS = 'st et t te ten test tet ete eten end ende enden'.split(' ');
const VERB_BASES = ['en', 'n', '', 'e'];
const SHORTEST_STEM = 3;
const PREFIXES =
  'ab an auf aus bei durch ein fest fort frei her hin los mit nach statt teil um vor weg weiter zu zurück zusammen'.split(
    ' ',
  );

/** What the word may be a form of, the likeliest first. */
function* basicForms(word: string): Generator<string> {
  yield* withBases(word, NOUN_ENDINGS, NOUN_BASES);
  yield* withBases(word, VERB_ENDINGS, VERB_BASES);
  for (const ending of ['', 'e', 'es', 'er', 'en', 'em'])
    if (word.endsWith(ending)) yield* comparative(cut(word, ending));
  yield* participle(word);
}

function* withBases(word: string, endings: readonly string[], bases: readonly string[]): Generator<string> {
  for (const ending of endings) {
    if (!word.endsWith(ending) || word.length - ending.length < SHORTEST_STEM) continue;
    const stem = cut(word, ending);
    for (const base of bases) yield stem + base;
    const plain = withoutUmlaut(stem);
    if (plain !== stem) yield plain;
  }
}

const cut = (word: string, ending: string): string => word.slice(0, word.length - ending.length);

/** "schneller", "größte" are left as "schnell", "größ". */
function* comparative(stem: string): Generator<string> {
  for (const ending of ['er', 'st', 'est']) {
    if (!stem.endsWith(ending) || stem.length - ending.length < SHORTEST_STEM) continue;
    const base = cut(stem, ending);
    yield base;
    yield withoutUmlaut(base);
  }
}

/** "gewechselt" of "wechseln", "abgelehnt" of "ablehnen", "abzulehnen" as well. */
function* participle(word: string): Generator<string> {
  const found = /^(.*?)(ge|zu)(.{3,}?)(e?t|en)(e[mnrs]?)?$/.exec(word);
  if (found === null) return;
  const [, prefix = '', , stem = ''] = found;
  if (prefix !== '' && !PREFIXES.includes(prefix)) return;
  for (const verb of prefix === '' ? [''] : [prefix, '']) {
    yield `${verb}${stem}en`;
    yield `${verb}${stem}n`;
  }
}

const withoutUmlaut = (text: string) => text.replace(/äu/g, 'au').replace(/[äöü]/g, (sign) => UMLAUTS[sign]!);
const UMLAUTS: Readonly<Record<string, string>> = { ä: 'a', ö: 'o', ü: 'u' };

const SHORTEST_PART = 4;
const MOST_PARTS = 3;
/** What may stand between the parts. */
const LINKS = ['', 's', 'es', 'n', 'en', 'er', '-'];

/** The last part, as long as possible, bears the inflection; those before are words as they are, or in the plural. */
function compoundGloss(word: string, known: Glosses, parts = MOST_PARTS): string | undefined {
  for (let at = SHORTEST_PART; at <= word.length - SHORTEST_PART && parts > 1; at++) {
    const last = lastGloss(word.slice(at), known);
    if (last === undefined) continue;
    const first = firstGloss(word.slice(0, at), known) ?? compoundGloss(word.slice(0, at), known, parts - 1);
    if (first !== undefined) return `${first} ${last}`;
  }
  return undefined;
}

function lastGloss(part: string, known: Glosses): string | undefined {
  for (const ending of ['', 'n', 'en', 's', 'es', 'e', 'er']) {
    const stem = cut(part, ending);
    const gloss = part.endsWith(ending) && stem.length >= SHORTEST_PART ? known.get(stem) : undefined;
    if (gloss !== undefined) return gloss;
  }
  return undefined;
}

function firstGloss(part: string, known: Glosses): string | undefined {
  for (const link of LINKS) {
    if (!part.endsWith(link) || part.length - link.length < SHORTEST_STEM) continue;
    const stem = cut(part, link);
    const gloss = known.get(stem) ?? known.get(`${stem}e`) ?? known.get(`${stem}en`);
    if (gloss !== undefined) return gloss;
  }
  return undefined;
}
