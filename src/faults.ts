/** What is said about a value that a schema refuses: what it must be, and the limit. Importing it is enough; a schema's own sentence wins. */
import { z } from 'zod';

type Issue = z.core.$ZodRawIssue;

z.config({ customError: sentenceOf });

const NOUNS: Readonly<Record<string, string>> = {
  string: 'text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** Undefined: zod's own sentence. */
function sentenceOf(issue: Issue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${NOUNS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      if (issue.input === undefined) return 'is missing';
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map((value) => (value === '' ? 'empty' : value)).join(', ')}`;
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty';
      return `must ${issue.inclusive === false ? 'be more than' : atLeast(issue.origin)} ${issue.minimum}${unitOf(issue.origin)}`;
    case 'too_big':
      return `must ${issue.inclusive === false ? 'be less than' : atMost(issue.origin)} ${issue.maximum}${unitOf(issue.origin)}`;
    case 'invalid_union':
      return ofUnion(issue.errors);
    case 'invalid_format':
      return issue.format === 'uuid' ? 'must be a UUID, as ids of memories are' : undefined;
    default:
      return undefined;
  }
}

/** What the last of the kinds says that took the value for one of its own; else what all of them say. */
function ofUnion(kinds: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const firsts = kinds.flatMap(([first]) => first ?? []);
  const meant = firsts.findLast(({ code, path }) => path.length > 0 || code === 'custom');
  if (meant && meant.path.length > 0) return `entry ${meant.path.join('.')} ${meant.message}`;
  return meant?.message ?? ([...new Set(firsts.map(({ message }) => message))].join(' or ') || undefined);
}

const atLeast = (origin: string): string => (unitOf(origin) === '' ? 'be at least' : 'hold at least');
const atMost = (origin: string): string => (unitOf(origin) === '' ? 'be at most' : 'hold at most');

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' entries' : '';
}
