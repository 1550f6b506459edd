/**
 * Forms of irregular verbs, which no rule of endings leads back to the infinitive. They take its gloss, and so do those of verbs with a prefix:
 * "nahm" gives "annahm", "vernahm" and "vernommen" where the table has "annehmen" and "vernehmen", "tuvo" gives "obtuvo".
 */
import { rowsOf } from '../common/sources.ts';

const PREFIXES = {
  de: /^(ab|an|auf|aus|be|bei|da|dar|durch|ein|emp|ent|entgegen|er|fern|fest|fort|frei|ge|gegenüber|he?r(ab|an|auf|aus|bei|ein|um|unter|vor)?|hin(ab|auf|aus|ein|unter|weg|zu)?|hinter|hoch|los|miss|mit|nach|nieder|statt|teil|über|um|unter|ver|vor(an|aus|bei)?|wahr|weg|weiter|wider|wieder|zer|zu(rück|sammen)?|zwischen)?$/,
  es: /^(a|abs|ante|com|con|contra|de|des|dis|en|entre|ex|im|in|inter|man|o|ob|pos|pre|pro|re|sobre|sos|su|sub|trans)?$/,
};
/** German prefixes whose participle has no "ge". */
const INSEPARABLE = /^(be|emp|ent|er|ge|hinter|miss|über|unter|ver|wider|zer)$/;

/** Adds the forms to the table; words it has stay as they are. */
export function addIrregularForms(table: Map<string, string>, code: 'de' | 'es'): void {
  const verbs = rowsOf(new URL(`${code}.verbs.tsv`, import.meta.url)) as [verb: string, forms: string][];
  for (const [word, gloss] of [...table])
    for (const [verb, forms] of verbs) {
      const prefix = word.endsWith(verb) ? word.slice(0, -verb.length) : undefined;
      if (prefix === undefined || !PREFIXES[code].test(prefix)) continue;
      for (const form of forms.split(' ')) {
        const whole = prefix + form.replace('ge-', INSEPARABLE.test(prefix) ? '' : 'ge');
        // "aufgaben" is of "Aufgabe" sooner than of "aufgeben".
        if (!table.has(whole) && !table.has(whole.replace(/n$/, ''))) table.set(whole, gloss);
      }
    }
}
