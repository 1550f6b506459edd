import fc from 'fast-check';
import t from 'tap';
import { readHtml } from '../../src/knowledge/read/html.ts';
import { readMarkdown } from '../../src/knowledge/read/markdown.ts';
import { sectionsOf } from '../../src/knowledge/sections.ts';

const { FC_SEED, FC_RUNS = '200' } = process.env;
const runs = { numRuns: Number(FC_RUNS), ...(FC_SEED && { seed: Number(FC_SEED) }) };

const piece = fc.oneof(
  fc.constantFrom(
    '# One\n',
    '## Two\n',
    '\n### Three ###\n',
    'Title\n===\n',
    '```\n# code\n```\n',
    '\n\n',
    ' ',
    '\n',
    '👩‍🚀',
    '。',
  ),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.integer({ min: 1, max: 3_000 }).map((n) => 'x'.repeat(n)),
  fc.integer({ min: 1, max: 300 }).map((n) => 'A short sentence. '.repeat(n)),
);
const texts = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
const bare = (text: string): string => text.replace(/\s/g, '');

t.test('sections hold every character of a text once, in order, and cite it exactly', async () => {
  fc.assert(
    fc.property(texts, fc.array(fc.nat({ max: 5_000 })), (text, cuts) => {
      const pages = [0, ...new Set(cuts.filter((cut) => cut > 0 && cut < text.length))].sort((a, b) => a - b);
      const sections = [...sectionsOf({ ...readMarkdown(text), pages })];
      let end = 0;
      for (const section of sections) {
        if (section.start < end || section.content !== text.slice(section.start, section.end)) return false;
        if (section.content.length > 1_200 || section.content.trim() !== section.content) return false;
        const page = pages.filter((at) => at <= section.start).length;
        if (section.page === null || section.page > page) return false;
        end = section.end;
      }
      const visible = (s: string) => bare(s).replace(/[\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu, '');
      return visible(sections.map((s) => s.content).join('')) === visible(text);
    }),
    runs,
  );
});

t.test('a pair of surrogates is never cut', async () => {
  fc.assert(
    fc.property(fc.nat({ max: 3 }), fc.integer({ min: 1, max: 3_000 }), (lead, n) =>
      [...sectionsOf(readMarkdown('x'.repeat(lead) + '🚀'.repeat(n)))].every(
        ({ content }) => !/\p{Surrogate}/u.test(content),
      ),
    ),
    runs,
  );
});

t.test('headings are those of Markdown, and no line of code', async (t) => {
  const headings = (text: string) => readMarkdown(text).headings.map(({ level, title }) => [level, title]);
  t.same(headings('# A #\ntext\n## `B` **c**\nD\n---\n####### no\n#no\n'), [
    [1, 'A'],
    [2, 'B c'],
    [2, 'D'],
  ]);
  t.same(headings('---\ntitle: x\n---\n# A\n'), [[1, 'A']]);
  t.same(headings('```\n# no\n~~~\n```\n# A\n~~~~\n# no\n'), [[1, 'A']]);
  t.same(headings('- item\n---\n\n---\n# \n'), []);
  t.same(readMarkdown('# A\n## B\n').title, 'A');
});

t.test('HTML keeps paragraphs, lists, tables and code apart', async (t) => {
  const { text, headings } = readHtml(
    '<h1>A <i>b</i></h1>x<br>y<ul><li>one<li>two</ul><table><tr><td>1<td>2</table><pre>  c\n  d</pre></p></b>end',
  );
  t.equal(text, 'A b\n\nx\ny\n\n- one\n\n- two\n\n1 | 2\n\n  c\n  d\n\nend');
  t.match(headings, [{ at: 0, end: 3, level: 1, title: 'A b' }]);
  t.notMatch(readHtml('<script>a<!-- </script> -->b</script>c').text, /a/);
  for (const broken of ['<', '<p', '</', '<a href="', '<!--', '&', '&#xFFFFFFF;', '<p hidden>a'])
    t.doesNotThrow(() => readHtml(broken));
});
