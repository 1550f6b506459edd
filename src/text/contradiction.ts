/**
 * Whether two statements about one subject cannot both hold. Rules on words, and modest: a mark that is wrong costs more than one that is
 * missing. Both must be the same sentence but for one place, name a subject that means the same in both, and say of it what it has once.
 */
import { languageOf } from './language.ts';
import { compatibilityForm } from './unicode.ts';
import { wordsOf } from './words.ts';

export const CONTRADICTIONS = ['negation', 'date', 'number', 'value'] as const;
export type Contradiction = (typeof CONTRADICTIONS)[number];

/** Words before the place that differs, so that something is said of something: subject and verb are among them. */
const FRAME_WORDS = 3;
/** Share of the longer text that both hold. */
const SAME_FRAME = 0.6;
/** Words of the place that differs. */
const MOST_DIFFERENT = 3;
/** Words up to the verb; a longer subject is a clause of its own. */
const LONGEST_SUBJECT = 6;
/** UTF-16 units; longer texts say more than one thing. */
const LONGEST_COMPARED = 4000;

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

const NEGATIONS = words(
  'not no never none without nicht kein keine keinen nie niemals nunca jamás sin não nem ne pas jamais sans non mai senza нет не никогда 不 没 沒 無 无 未 非 안 못',
);

/** What comes and goes with a negation: "does not run" and "runs", "no key" and "a key", "never" and "always". */
const BESIDE_NEGATION = words('do does did a an any ever always longer anymore ein eine einen immer mehr siempre');

/** Subjects that mean something else in every text, and what introduces them: "that is great", "they live in Rome". */
const POINTERS = words(
  `it this that such these those there here he she they you what which who everything something someone er sie es dies diese dieser dieses wer
  esto esta este eso esa ese ello ellos ellas él ella usted`,
);

const NUMERALS = words(
  `two three four five six seven eight nine ten eleven twelve zwei drei vier fünf sechs sieben acht neun zehn elf zwölf
  dos tres cuatro cinco seis siete ocho nueve diez once doce`,
);

/** "A man", "some dogs", "two women": which ones is not said. */
const INDEFINITE = new Set([
  ...NUMERALS,
  ...words('a an some many several few another one ein eine einige mehrere un una unos unas varios varias une uno'),
]);

const BE = 'is are am was were will ist sind bin war waren es son está están estoy era fue será est sont è é são';

const COPULAS = words(BE);

/** Of these one has any number, at any time: only the number right behind the verb is a fact of its own. */
const HAVE = words('has have had hat habe haben tiene tengo');

/** Verbs of states and of plans. What is done (sold, ran, bought) can be done twice, with other numbers and on other days. */
const STATES = new Set([
  ...COPULAS,
  ...HAVE,
  ...words(
    `costs cost weighs weigh needs need requires require allows allow expires expire starts start begins begin ends opens open closes close
    leaves leave arrives arrive departs depart takes take earns earn owes owe listens listen runs run rotates rotate deploys deploy lasts last
    kostet wiegt braucht beginnt startet endet öffnet schließt findet liegt cuesta empieza comienza termina abre cierra`,
  ),
]);

/** Verbs with one object at a time. */
const ONE_OBJECT = words(
  `live lives work works belong belongs moved wohne wohnt lebe lebt arbeite arbeitet heiße heißt
  vivo vive trabajo trabaja llama llamo`,
);

/** One prefers tea, and Vim: two preferences are about one thing only where the same follows ("dark mode" and "light mode"). */
const PREFER = words('prefer prefers bevorzuge bevorzugt prefiero prefiere');

/** After a copula these have one object too: "is written in Rust". */
const ONE_OBJECT_PARTICIPLES = words(
  'called named located based hosted written licensed set born married due scheduled planned',
);

/** Words that may stand between the verb and the place that differs. */
const LINKS = words(
  'in at on from to of by for as under the my our your still now currently around about im am bei aus von als der die das en de el la los las',
);

/** What there is one of, so that its value need not be a name. */
const SINGULAR = words(
  `favorite favourite default preferred primary main current name nickname birthday address colour color status password username
  hometown capital owner author language timezone`,
);

/** What is one is not the other. */
const OPPOSITES = new Map(
  `enabled disabled active inactive allowed forbidden open closed online offline public private mandatory optional required optional
  true false valid invalid aktiviert deaktiviert erlaubt verboten offen geschlossen`
    .split(/\s+/)
    .map((word, i, all): [string, true] => [`${word} ${all[i ^ 1]}`, true]),
);

const MONTH_OR_DAY =
  /^(jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec|january|february|march|april|june|july|august|september|october|november|december|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|januar|februar|märz|mai|juni|juli|oktober|dezember|montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|lunes|martes|miércoles|jueves|viernes|sábados?|domingos?|月|日)$/;

/** A text taken apart once, to be compared with many. */
export interface Statement {
  /** In lower case, in order; none where a text says nothing that could be contradicted. */
  readonly words: readonly string[];
  readonly written: readonly string[];
  readonly negated: boolean;
  /** Its words without the negation. */
  readonly affirmed: string;
  /** Where the verb stands; -1 without one that is known. */
  readonly verb: number;
}

const NOTHING: Statement = { words: [], written: [], negated: false, affirmed: '', verb: -1 };

export function contradiction(a: string, b: string): Contradiction | undefined {
  return contradictionOf(toStatement(a), toStatement(b));
}

export function toStatement(text: string): Statement {
  if (text.length > LONGEST_COMPARED || /[?？؟]\s*$/.test(text)) return NOTHING;
  // "No, we do" negates nothing of what follows.
  const written = wordsOf(compatibilityForm(text).replace(/^\s*(no|nope|nein|non|нет)\s*[,.!]/iu, ''));
  const lower = written.map((word) => word.toLowerCase());
  if (lower.length < FRAME_WORDS || POINTERS.has(lower[0]!)) return NOTHING;
  return {
    words: lower,
    written,
    negated: lower.some((word) => NEGATIONS.has(word)),
    affirmed: lower
      .filter((word) => !NEGATIONS.has(word) && !BESIDE_NEGATION.has(word))
      .map(withoutEnding)
      .join(' '),
    verb: verbOf(lower),
  };
}

/** "runs" and "run". */
const withoutEnding = (word: string): string => (/^[a-z]{2,}[^s]s$/.test(word) ? word.slice(0, -1) : word);

/** The first verb, behind a subject that is neither a pointer nor a clause; notes go without one ("Lives in Rome"). */
function verbOf(lower: readonly string[]): number {
  const at = lower.findIndex((word) => STATES.has(word) || ONE_OBJECT.has(word) || PREFER.has(word));
  const subject = lower.slice(0, at);
  return (at === 0 && STATES.has(lower[0]!)) || at > LONGEST_SUBJECT || subject.some((word) => POINTERS.has(word))
    ? -1
    : at;
}

/** `contradiction` of two texts that were taken apart. */
export function contradictionOf(a: Statement, b: Statement): Contradiction | undefined {
  if (a.negated !== b.negated) return a.affirmed === b.affirmed ? 'negation' : undefined;
  // Not in Lisbon, not in Porto: only two that affirm exclude each other. And both have the same verb.
  if (a.negated || a.verb < 0 || a.verb !== b.verb) return undefined;
  const [shorter, longer] = [Math.min(a.words.length, b.words.length), Math.max(a.words.length, b.words.length)];
  let before = 0;
  while (before < shorter && a.words[before] === b.words[before]) before++;
  if (before <= a.verb) return undefined;
  let after = 0;
  while (after < shorter - before && a.words.at(-1 - after) === b.words.at(-1 - after)) after++;
  const [fewer, more] = [shorter - before - after, longer - before - after];
  if (fewer === 0 || more > MOST_DIFFERENT || before + after < Math.max(FRAME_WORDS, SAME_FRAME * longer))
    return undefined;
  return linked(a, before) ? judge(a, b, before, after) : undefined;
}

/** Whether what stands at `before` is what the verb says, and not something beside it ("was green on Monday", "have a date on Monday"). */
function linked({ words, verb }: Statement, before: number): boolean {
  const said = words[verb]!;
  if (HAVE.has(said) || PREFER.has(said)) return before === verb + 1;
  const between = words.slice(verb + 1, before);
  // Who works on one thing works on another too.
  if (ONE_OBJECT.has(said))
    return between.every((word) => (LINKS.has(word) && word !== 'on') || word === 'a' || word === 'an');
  if (!COPULAS.has(said)) return true;
  return between.every((word) => LINKS.has(word) || ONE_OBJECT_PARTICIPLES.has(word) || isNumber(word));
}

/** Both have words of their own from `before` to `after` words from the end. */
function judge(a: Statement, b: Statement, before: number, after: number): Contradiction | undefined {
  const different = [a, b].flatMap(({ words }) => words.slice(before, words.length - after));
  const verb = a.words[a.verb]!;
  if (different.every(isNumber)) return STATES.has(verb) ? 'number' : undefined;
  if (different.some((word) => MONTH_OR_DAY.test(word))) {
    const dates = different.every((word) => isNumber(word) || MONTH_OR_DAY.test(word));
    return dates && STATES.has(verb) && !HAVE.has(verb) ? 'date' : undefined;
  }
  if (COPULAS.has(verb) && OPPOSITES.has(different.join(' '))) return 'value';
  if (PREFER.has(verb)) return after > 0 ? 'value' : undefined;
  if (INDEFINITE.has(a.words[0]!) || !(COPULAS.has(verb) || ONE_OBJECT.has(verb))) return undefined;
  const capitals = [a, b].every(({ words, written }) => words[before] !== written[before]);
  // German writes every noun with a capital, and a doctor may be a mother; but one place is not another.
  const names = capitals && (before > a.verb + 1 || languageOf(a.words) !== 'de');
  return names || (after === 0 && isSingular(a, before)) ? 'value' : undefined;
}

const isNumber = (word: string): boolean => /\p{N}/u.test(word) || NUMERALS.has(word);

/** Whether there is only one, so that any other excludes it: what is "red" may be "fast" too, but has one favourite colour. */
function isSingular({ words, verb }: Statement, before: number): boolean {
  if (ONE_OBJECT.has(words[verb]!) || words.slice(0, verb).some((word) => SINGULAR.has(word))) return true;
  return words.slice(verb + 1, before).some((word) => ONE_OBJECT_PARTICIPLES.has(word));
}
