/** What kind of thing an English question asks for, and which texts hold one: "when" is answered by a time, "how many" by a number. */

export type Sought = 'time' | 'number';

const ASKS: Readonly<Record<Sought, RegExp>> = {
  time: /^(and )?when\b|\bwhen (did|does|do|was|were|is|are|will|has|have)\b|\bwhat (date|year|month|day|time)\b|\bhow long ago\b/i,
  number: /\bhow (many|much|often|long|old|far)\b/i,
};

const HOLDS: Readonly<Record<Sought, RegExp>> = {
  time: new RegExp(
    `\\b(yesterday|today|tonight|tomorrow|last|next|ago|since|recently|just|this (week|month|year|weekend|spring|summer|autumn|fall|winter|morning)|
    |days?|weeks?|months?|years?|weekend|(mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october|
    |november|december|birthday|(19|20)\\d\\d)\\b`.replace(/\s*\n\s*\|?/g, ''),
    'i',
  ),
  number: /\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|couple|few|several|once|twice)\b/i,
};

/** Undefined for questions of another kind. */
export function soughtBy(question: string): Sought | undefined {
  if (ASKS.time.test(question)) return 'time';
  return ASKS.number.test(question) ? 'number' : undefined;
}

export const holds = (text: string, sought: Sought): boolean => HOLDS[sought].test(text);
