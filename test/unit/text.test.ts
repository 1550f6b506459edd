import fc from 'fast-check';
import t from 'tap';
import type { Candidate } from '../../src/recall/candidates.ts';
import { constantsOf } from '../../src/recall/constants.ts';
import { readQuestion } from '../../src/recall/question.ts';
import { fuse } from '../../src/recall/rank.ts';
import { ANALYSER, analyse, countTerms, scriptOf } from '../../src/text/analyse.ts';
import { contradiction, contradictionOf, toStatement } from '../../src/text/contradiction.ts';
import { nearness, type TimeRange, timeRanges } from '../../src/text/dates.ts';
import { tongueOf } from '../../src/text/language.ts';
import { nearDuplicate } from '../../src/text/near-duplicate.ts';
import { holds, soughtBy } from '../../src/text/sought.ts';
import { STOP_WORDS } from '../../src/text/stopwords.ts';
import { compatibilityForm, invalidText, isBlank, utf8Length } from '../../src/text/unicode.ts';

const DAY = 86_400_000;

t.test('languages are told apart as far as retrieval needs it', (t) => {
  const table: [string, string][] = [
    ['The meeting is on Friday', 'en'],
    ['kubectl rollout restart', 'en'],
    ['Das Treffen ist am Freitag', 'de'],
    ['La reunión es el viernes', 'es'],
    ['会议在星期五', 'han'],
    ['会議は金曜日です', 'kana'],
    ['회의는 금요일', 'hangul'],
    ['Встреча в пятницу', 'other'],
    ['42', 'en'],
    ['', 'en'],
  ];
  for (const [text, tongue] of table) t.equal(tongueOf(text), tongue, text);
  t.end();
});

t.test('a question tells the kind of thing that it asks for', (t) => {
  for (const [question, sought] of [
    ['When did Ann paint the horse?', 'time'],
    ['Do you know when is the dinner', 'time'],
    ['What year was it founded?', 'time'],
    ['How many shirts did I buy?', 'number'],
    ['How often do I swim?', 'number'],
    ['What happens when I deploy?', undefined],
    ['Where is the key?', undefined],
  ] as const)
    t.equal(soughtBy(question), sought, question);
  for (const text of ['I did it yesterday', 'in June 2023', 'the week before', 'last\nFriday'])
    t.ok(holds(text, 'time'), text);
  for (const text of ['I bought two', '3 apples', 'twice a week']) t.ok(holds(text, 'number'), text);
  t.notOk(holds('a fast horse of someone', 'number'));
  t.notOk(holds('The marching band lasts', 'time'));
  t.end();
});

t.test('where the words of the question cannot stand, the cosine stands in for them', (t) => {
  const question = { ...readQuestion('Where is the key?'), ranges: [] };
  const found = (id: string, head: string, bm25: number): Candidate => ({
    ...{ space_id: 1, seq: '1', id, bm25, cosine: 0.6, passage: 0, log_length: 1, author: null, path: null },
    ...{ memory_type: 'semantic', importance: null, confidence: null, used: 0, version: 1, occurred_at: null },
    ...{
      created_at: new Date(0),
      session: null,
      occasion: null,
      before_seq: null,
      head,
      tail: '',
      hash: null,
      held: null,
    },
  });
  const constants = constantsOf({ id: 'minilm-l6-v2', band: undefined });
  const lexical = (candidate: Candidate, asked = question) =>
    fuse([candidate], { question: asked, weights: new Map(), constants, preferWorking: false })[0]!.parts.lexical;
  t.equal(lexical(found('a', 'The key is in the drawer', 8)), 0.5);
  t.equal(lexical(found('b', 'The dinner is on Friday', 0)), 0, 'it could hold them and does not');
  t.equal(lexical(found('c', 'Der Schlüssel ist in der Schublade', 0)), 0.6);
  const glossed = { ...readQuestion('Wo ist der Schlüssel?', 'where key?'), ranges: [] };
  t.equal(lexical(found('d', 'The dinner is on Friday', 0), glossed), 0, 'it is asked for in English too');
  t.equal(lexical(found('e', 'La llave está en el cajón', 0), glossed), 0.6);
  t.end();
});

t.test('analyse', async (t) => {
  const table: [what: string, text: string, terms: string][] = [
    ['English words are stemmed and stop words left out', 'The cats were running their MILES', 'cat run mile'],
    ['repeats stay, in order', 'Tea, then coffee, then tea.', 'tea coffe tea'],
    ['typographic contractions split as plain ones do', "don’t don't we’ll", 'don don'],
    ['letters and digits belong together', 'node20 v1.2 sha256:ab12', 'node20 v1 2 sha256 ab12'],
    ['an identifier falls apart at its signs', 'user_id, max-items', 'user id max item'],
    ['ligatures and wide forms are what they look like', 'ﬁnance Ｎｏｄｅ２０', 'financ node20'],
    ['composed and decomposed accents are one', 'café cafe\u0301', 'café café'],
    ['German words stay whole', 'Die Straße nach München', 'die straße nach münchen'],
    [
      'Spanish words stay whole, save that plain ones get an English stem',
      '¿Cuántos años tiene él?',
      'cuántos años tien él',
    ],
    ['Korean gives bigrams and the word without its particle', '고양이를 봤다', '고양 양이 이를 §고양이 봤다 §봤다'],
    ['the longest particle is taken', '서울에서는', '서울 울에 에서 서는 §서울'],
    ['a Korean particle is not stripped to nothing', '은 는', '은 는'],
    ['Japanese gives bigrams, kanji and kana together', '猫が好きです', '猫が が好 好き きで です'],
    ['half-width kana are kana, with the long sign', 'ｺｰﾋｰ', 'コー ーヒ ヒー'],
    ['Chinese gives bigrams', '我喜欢猫', '我喜 喜欢 欢猫'],
    ['a single ideograph stays single', '猫, 犬', '猫 犬'],
    ['rare ideographs of two units are one character', '𠮷野家', '𠮷野 野家'],
    ['a lone rare ideograph stays whole', '𠮷', '𠮷'],
    ['digits beside CJK are words of their own', '2015年に50美元', '2015 年に 50 美元'],
    ['Latin beside CJK is a word of its own', '使用React框架 v2를', '使用 react 框架 v2 를'],
    ['Hangul and Han are runs of their own', '大學은', '大學 은'],
    ['Arabic words stay as they are', 'مرحبا بالعالم', 'مرحبا بالعالم'],
    ['Cyrillic and Greek are lower-cased', 'Привет ΟΔΟΣ', 'привет οδος'],
    ['Thai, which writes no spaces, gives bigrams', 'แมว', 'แม มว'],
    ['soft hyphens and joiners do not split a word', 'co\u00adop can\u200dnot\ufeff', 'coop cannot'],
    ['a zero-width space does', 'co\u200bop', 'co op'],
    ['emoji and lone marks are no terms', '❤️ 👍🏽 \u0301 x', 'x'],
    ['nothing gives nothing', ' \n\t—!? ', ''],
  ];
  for (const [what, text, terms] of table) t.strictSame(analyse(text).join(' '), terms, what);
});

t.test('a term has at most 64 characters, in whole characters', async (t) => {
  t.strictSame(analyse('x'.repeat(100)), ['x'.repeat(64)]);
  t.strictSame(analyse('𝼆'.repeat(100)), ['𝼆'.repeat(64)]);
  t.strictSame(analyse('가'.repeat(100)).at(-1), `§${'가'.repeat(64)}`);
});

t.test('the same word gives the same stem when the memory of stems has started afresh', async (t) => {
  const before = analyse('running internationalisation');
  for (let i = 0; i < 21_000; i += 1) analyse(`w${letters(i)}`);
  t.strictSame(analyse('running internationalisation'), before);
});

t.test('512 KiB of anything comes to an end', async (t) => {
  const size = 524_288;
  const traps = [
    'a',
    '가',
    '漢',
    'แ',
    "a'",
    '1a',
    'a漢',
    'Σ',
    '𝒜',
    ' ',
    '\u200d',
    'running ',
    '\u0301',
    '\u0301\u0316',
    '\uff9e\u0301',
    'a\u034f\u0301\u0316',
  ];
  for (const trap of traps) {
    const text = trap.repeat(Math.floor(size / utf8Length(trap)));
    t.ok(analyse(text).length <= text.length, JSON.stringify(trap));
    t.type(isBlank(text), 'boolean');
  }
  t.strictSame(analyse('a'.repeat(100_000)), ['a'.repeat(64)]);
});

t.test('countTerms counts each term, first ones first', async (t) => {
  t.strictSame(
    [...countTerms(['b', 'a', 'b'])],
    [
      ['b', 2],
      ['a', 1],
    ],
  );
  t.strictSame(countTerms([]).size, 0);
});

t.test('the version of the analyser does not change by accident', async (t) => {
  t.equal(ANALYSER, 'en-porter2-cjk2@1');
});

t.test('stop words are lower case, and each language has its own', async (t) => {
  for (const [language, words] of Object.entries(STOP_WORDS)) {
    t.ok(words.size > 100, language);
    t.strictSame(
      [...words].filter((word) => word !== word.toLowerCase() || !/^\p{L}+$/u.test(word)),
      [],
      language,
    );
  }
  t.ok(STOP_WORDS.de.has('für') && STOP_WORDS.es.has('qué') && STOP_WORDS.en.has('the'));
});

t.test('scriptOf', async (t) => {
  const table: [text: string, script: string][] = [
    ['where is it?', 'latin_or_other'],
    ['wo ist die Straße', 'latin_or_other'],
    ['أين', 'latin_or_other'],
    ['', 'latin_or_other'],
    ['React의 버전', 'hangul'],
    ['大學은', 'hangul'],
    ['猫はどこ', 'kana'],
    ['Kubernetes 版本', 'han'],
    ['ｺｰﾋｰ', 'kana'],
  ];
  for (const [text, script] of table) t.equal(scriptOf(text), script, text);
});

t.test('invalidText names what Postgres cannot keep', async (t) => {
  t.equal(invalidText('a\0b'), 'nul');
  t.equal(invalidText('a\ud800b'), 'lone_surrogate');
  t.equal(invalidText('\udc00'), 'lone_surrogate');
  t.equal(invalidText('fine 👍 \ufffd\n'), null);
  t.equal(invalidText(''), null);
});

t.test('isBlank sees what shows nothing', async (t) => {
  for (const blank of [
    '',
    ' \t\r\n',
    '\u00a0\u3000\u2003',
    '\u200b\u200d\ufeff\u2060',
    '\u0007\u001b',
    '\u00ad',
    '\u3164\u2800',
    '\ufe0f',
  ])
    t.ok(isBlank(blank), JSON.stringify(blank));
  for (const text of ['.', ' a ', '\u200b猫', '👍', '0']) t.notOk(isBlank(text), JSON.stringify(text));
});

t.test('utf8Length counts bytes', async (t) => {
  t.equal(utf8Length('aé猫👍'), 1 + 2 + 3 + 4);
});

t.test('compatibilityForm bounds a run of marks and nothing else', async (t) => {
  t.equal(compatibilityForm(`a${'\u0301'.repeat(100)}b`), `á${'\u0301'.repeat(29)}b`);
  t.equal(compatibilityForm('ｶﾞ Å ① ﬁ'), 'ガ Å 1 fi');
});

t.test('timeRanges: absolute dates', async (t) => {
  const day = (iso: string) => span(iso, DAY);
  const month = (year: number, m: number) => ({ from: Date.UTC(year, m - 1, 1), to: Date.UTC(year, m, 1) });
  const year = (y: number) => ({ from: Date.UTC(y, 0, 1), to: Date.UTC(y + 1, 0, 1) });
  const may8 = day('2023-05-08');
  const table: [question: string, ...TimeRange[]][] = [
    ['What happened on 2023-05-08?', may8],
    ['at 2023-05-08T10:00:00Z', may8],
    ['2023/5/8', may8],
    ['8 May 2023', may8],
    ['on the 8th of May, 2023', may8],
    ['May 8, 2023', may8],
    ['may 8th 2023', may8],
    ['am 8.5.2023', may8],
    ['am 8. Mai 2023', may8],
    ['el 8 de mayo de 2023', may8],
    ['2023年5月8日に', may8],
    ['２０２３年５月８日', may8],
    ['2023년 5월 8일에', may8],
    ['May 2023', month(2023, 5)],
    ['in 2023-05', month(2023, 5)],
    ['im Dezember 2022', month(2022, 12)],
    ['en mayo de 2023', month(2023, 5)],
    ['2023년 5월', month(2023, 5)],
    ['Sept. 2023', month(2023, 9)],
    ['since 2021', year(2021)],
    ['im Jahr 2021', year(2021)],
    ['2015年', year(2015)],
    ['in July', { month: 7 }],
    ['last May', { month: 5 }],
    ['letzten März', { month: 3 }],
    ['desde enero', { month: 1 }],
    ['5月', { month: 5 }],
    ['July 4th', { month: 7, day: 4 }],
    ['on 29 February', { month: 2, day: 29 }],
    ['5月8日', { month: 5, day: 8 }],
    ['on 8 May 2023 and in July', may8, { month: 7 }],
    // no dates
    ['how might this may be done'],
    ['marching in, lots of mayo'],
    ['30.2.2023, 2023-13-01, 31 June'],
    ['3ヶ月, version 1.2.3, 0999-01-01'],
    ['in 3000'],
    ['yesterday'],
    [''],
  ];
  for (const [question, ...ranges] of table) t.strictSame(timeRanges(question), ranges, question);
});

t.test('timeRanges: relative ones count from the time of asking', async (t) => {
  const askedAt = Date.parse('2023-05-30T12:00:00Z');
  const around = (iso: string, days: number) => {
    const time = Date.parse(`${iso}T12:00:00Z`);
    return { from: time - days * DAY, to: time + days * DAY };
  };
  const since = (iso: string, slackDays: number) => ({ from: around(iso, slackDays).from, to: askedAt });
  const table: [question: string, ...TimeRange[]][] = [
    ['what did I eat yesterday', around('2023-05-29', 1.5)],
    ['two weeks ago', around('2023-05-16', 4)],
    ['two months ago', around('2023-03-30', 12)],
    ['a year ago', around('2022-05-30', 30)],
    ['last week', since('2023-05-23', 4)],
    ['past two weeks', since('2023-05-16', 4)],
    ['from Monday to Wednesday', { from: Date.parse('2023-05-29T12:00:00Z'), to: Date.parse('2023-06-01T12:00:00Z') }],
    ['2023-05-08, not yesterday', span('2023-05-08', DAY), around('2023-05-29', 1.5)],
    ['what is it now, at 5'],
    ['nothing'],
  ];
  for (const [question, ...ranges] of table) t.strictSame(timeRanges(question, askedAt), ranges, question);
});

t.test('timeRanges looks at the first 500 characters only', async (t) => {
  t.strictSame(timeRanges(`${' '.repeat(500)}8 May 2023`), []);
  t.strictSame(timeRanges('ﷺ'.repeat(200_000), 0), []);
});

t.test('nearness', async (t) => {
  const range = span('2023-05-08', DAY);
  const at = (iso: string) => Date.parse(`${iso}T00:00:00Z`);
  const near = (ranges: TimeRange[], iso: string) => Number(nearness(ranges, at(iso)).toFixed(6));
  t.equal(near([], '2023-05-08'), 0, 'without ranges nothing is near');
  t.equal(near([range], '2023-05-08'), 1, 'inside');
  t.equal(near([range], '2023-05-09'), 1, 'the end is where the decay begins');
  t.equal(near([range], '2023-05-19'), Number(Math.exp(-1).toFixed(6)), 'ten days after');
  t.equal(near([range], '2023-05-03'), Number(Math.exp(-1).toFixed(6)), 'five days before');
  t.equal(near([{ month: 5 }], '1999-05-31'), 1, 'a month of any year');
  t.equal(near([{ month: 5 }], '1999-06-01'), 0);
  t.equal(near([{ month: 5, day: 8 }], '2024-05-08'), 1, 'a day of any year');
  t.equal(near([{ month: 5, day: 8 }], '2024-05-09'), 0);
  t.equal(near([{ month: 1 }, range, span('2023-05-18', DAY)], '2023-05-19'), 1, 'the nearest of several counts');
});

function span(iso: string, length: number): { from: number; to: number } {
  const from = Date.parse(`${iso}T00:00:00Z`);
  return { from, to: from + length };
}

/** A different word for each number. */
function letters(n: number): string {
  return [...n.toString(26)].map((digit) => String.fromCharCode(97 + Number.parseInt(digit, 26))).join('');
}

const SAID = 'old backups of Mira run on 3 servers every night and Tom looks at it on 12 May'.split(' ');

t.test(
  'a text in which a number, date, name, negation or any other word is changed, added or left out is no duplicate',
  async () => {
    const change = fc.record({
      at: fc.integer({ min: 1, max: SAID.length - 1 }),
      word: fc.constantFrom('4', '13', 'June', 'Ann', 'not', 'never', 'kein', 'new', 'small', 'before', 'already'),
      how: fc.constantFrom<(at: number, word: string) => string[]>(
        (at, word) => SAID.with(at, word),
        (at, word) => SAID.toSpliced(at, 0, word),
        (at) => SAID.toSpliced(at, 1),
        (at) => SAID.toSpliced(at - 1, 2, SAID[at]!, SAID[at - 1]!),
      ),
    });
    fc.assert(
      fc.property(change, ({ at, word, how }) => {
        const [a, b] = [SAID.join(' '), how(at, word).join(' ')];
        return !nearDuplicate(a, b) && !nearDuplicate(b, a);
      }),
    );
  },
);

const phrases = fc
  .array(
    fc.constantFrom(...SAID, 'is', 'a', 'not', "isn't", 'running', 'der', 'está', '一个', '正在', 'C#', 'lives in'),
    {
      maxLength: 8,
    },
  )
  .map((words) => words.join(' '));

t.test('near-duplicates and contradictions are the same from both sides, and none is both', async () => {
  fc.assert(
    fc.property(phrases, phrases, (a, b) => {
      const same = nearDuplicate(a, b);
      const against = contradiction(a, b);
      return same === nearDuplicate(b, a) && against === contradiction(b, a) && !(same && against);
    }),
    { numRuns: 2000 },
  );
  fc.assert(fc.property(phrases, (a) => nearDuplicate(`Mira, ${a}`, `mira ${a}.`)));
});

t.test('two statements contradict when one place of one sentence differs, and a subject has only one of it', (t) => {
  for (const [a, b, expected] of [
    ['The office is in Lisbon.', 'The office is in Porto', 'value'],
    ['I live in Lisbon.', 'I live in Porto.', 'value'],
    ['Lives in Lisbon since May.', 'Lives in Porto since May.', 'value'],
    ['Ann works as a nurse', 'Ann works as a teacher', 'value'],
    ['The user prefers dark mode', 'The user prefers light mode', 'value'],
    ['My favourite colour is blue', 'My favourite colour is green', 'value'],
    ['The service is written in Go', 'The service is written in Rust', 'value'],
    ['Das Büro ist in Berlin', 'Das Büro ist in Hamburg', 'value'],
    ['La oficina está en Madrid', 'La oficina está en Sevilla', 'value'],
    ['The office is in Lisbon.', 'The office is not in Lisbon.', 'negation'],
    ["We don't deploy on Fridays", 'We do deploy on Fridays', 'negation'],
    ['We always deploy on Fridays', 'We never deploy on Fridays', 'negation'],
    ["Ann doesn't like green tea", 'Ann likes green tea', 'negation'],
    ["The build isn't green today", 'The build is green today', 'negation'],
    ['会议决定下周二发布新版本', '会议决定下周二不发布新版本', 'negation'],
    ['Die Tests laufen in der Nacht', 'Die Tests laufen nicht in der Nacht', 'negation'],
    ['The release is on May 4 in Berlin', 'The release is on June 4 in Berlin', 'date'],
    ['The meeting takes place on Monday', 'The meeting takes place on Tuesday', 'date'],
    ['The deadline is 2024-05-04', 'The deadline is 2024-06-04', 'number'],
    ['The limit is set to 100 requests', 'The limit is set to 200 requests', 'number'],
    ['The user drinks coffee', 'The user no longer drinks coffee', 'negation'],
    ['The feature flag is enabled', 'The feature flag is disabled', 'value'],
    ['The database runs on port 5432', 'The database runs on port 5433', 'number'],
    ['We deploy on Tuesdays', 'We deploy on Thursdays', 'date'],
    ['I am 32 years old', 'I am 33 years old', 'number'],
    ['Ann has two children', 'Ann has three children', 'number'],
    ['The office is in Lisbon.', 'The office is in Lisbon.', undefined],
    ['The office is in Lisbon.', 'The office is in Lisbon, Portugal.', undefined],
    ['The office is in Lisbon.', 'No, the office is in Lisbon.', undefined],
    ['No hay ninguna diferencia.', 'No, no hay ninguna diferencia.', undefined],
    ['The server runs on Linux', 'The client runs on Linux', undefined],
    ['Room 12 is painted blue', 'Room 13 is painted blue', undefined],
    ['Is the office in Lisbon?', 'Is the office in Porto?', undefined],
    // one may have both
    ['I like green tea', 'I like green apples', undefined],
    ['The user prefers tea', 'The user prefers pytest', undefined],
    ['The user speaks German', 'The user speaks French', undefined],
    ['The user is a doctor', 'The user is a father', undefined],
    ['Der Nutzer ist Arzt', 'Der Nutzer ist Vater', undefined],
    ['I work on the parser', 'I work on the lexer', undefined],
    ['The server is slow today', 'The server is down today', undefined],
    // what was done can be done again
    ['The user bought 2 shirts', 'The user bought 3 shirts', undefined],
    ['We met on Monday', 'We met on Tuesday', undefined],
    ['The build was green on Monday', 'The build was green on Tuesday', undefined],
    ['I have an appointment on Monday', 'I have an appointment on Tuesday', undefined],
    // which one is not said
    ['That picture is from Lisbon', 'That picture is from Porto', undefined],
    ['A man is in Lisbon', 'A man is in Porto', undefined],
    ['The woman is wearing yellow.', 'The woman is wearing red.', undefined],
    ['The office is in Berlin', 'The office is not in Lisbon', undefined],
    ['We never deploy it on Mondays', 'We never deploy it on Fridays', undefined],
    ['The parser reads lines one by one', 'A kettle boils water for the tea', undefined],
    ['', 'anything', undefined],
  ] as const) {
    t.equal(contradiction(a, b), expected, `${a} / ${b}`);
    t.equal(contradictionOf(toStatement(b), toStatement(a)), expected);
  }
  t.end();
});
